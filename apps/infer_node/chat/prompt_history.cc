// Lines of the file.
#include "apps/infer_node/chat/prompt_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "engine/core/user_folders.h"

namespace infer::apps {
namespace {

namespace json = boost::json;

auto system_fault(const std::filesystem::path& file) {
  const std::error_code code(errno, std::generic_category());
  return fail(error{code, file.string() + ": " + code.message()});
}

/// Writes all of `text` to a file that `flags` say how to open.
result<void> write(const std::filesystem::path& file, const std::string& text, int flags) {
  const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (to < 0) return system_fault(file);
  const ssize_t written = ::write(to, text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size());
  if (::close(to) != 0 || !whole) return system_fault(file);
  return success();
}

result<void> make_folders(const std::filesystem::path& folder) {
  std::error_code none;
  if (folder.empty() || std::filesystem::is_directory(folder, none)) return success();
  INFER_TRYV(make_folders(folder.parent_path()));
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return system_fault(folder);
  return success();
}

std::string line_of(std::string_view prompt) {
  return json::serialize(json::string(prompt.data(), prompt.size())) + "\n";
}

}  // namespace

std::filesystem::path history_file() {
  const auto folder = state_folder();
  return folder.empty() ? folder : folder / "history";
}

std::vector<std::string> read_history(const std::filesystem::path& file, std::size_t most) {
  std::vector<std::string> out;
  std::ifstream from(file);
  for (std::string line; std::getline(from, line);) {
    json::error_code code;
    const json::value value = json::parse(line, code);
    if (!code && value.is_string()) out.emplace_back(value.get_string());
  }
  if (out.size() > most) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most));
  return out;
}

result<void> append_history(const std::filesystem::path& file, std::string_view prompt) {
  INFER_TRYV(make_folders(file.parent_path()));
  return write(file, line_of(prompt), O_APPEND);
}

result<void> trim_history(const std::filesystem::path& file, std::size_t most) {
  const auto all = read_history(file, static_cast<std::size_t>(-1));
  if (all.size() <= 2 * most) return success();
  std::string text;
  for (std::size_t at = all.size() - most; at < all.size(); ++at) text += line_of(all[at]);
  const std::filesystem::path beside = file.string() + "." + std::to_string(::getpid());
  INFER_TRYV(write(beside, text, O_TRUNC));
  if (::rename(beside.c_str(), file.c_str()) != 0) return system_fault(file);
  return success();
}

}  // namespace infer::apps
