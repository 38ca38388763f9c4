// Reading to the end.
#include "apps/infer_node/whole_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "engine/core/user_folders.h"
#include "engine/tokenize/utf8.h"

namespace infer::apps {
namespace {

/// Everything from a descriptor; an errno where it breaks.
int read_all(int file, std::string& out) {
  std::vector<char> piece(std::size_t{64} << 10);
  while (true) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    out.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

result<std::string> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  const int code = file < 0 ? errno : read_all(file, text);
  if (file >= 0) ::close(file);
  if (code != 0) return fail(error{std::error_code(code, std::generic_category()), {}});
  return text;
}

result<std::string> read_input() {
  std::string text;
  const int code = read_all(STDIN_FILENO, text);
  if (code != 0)
    return fail(
        error{std::error_code(code, std::generic_category()), std::string("standard input: ") + std::strerror(code)});
  return text;
}

std::string utf8_fault(const std::string& what, std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const tokenize::utf8_step step = tokenize::utf8_first(text.substr(at));
    if (step.what != tokenize::utf8_step::kind::character)
      return what + " is not UTF-8 from byte " + std::to_string(at + 1) +
             " on; convert it first, for instance with iconv -f latin1 -t utf-8";
    at += step.length;
  }
  return {};
}

std::string with_home(const std::string& path) {
  const bool is_home = path == "~" || path.starts_with("~/");
  const std::string home = is_home ? home_folder().string() : "";
  return home.empty() ? path : home + path.substr(1);
}

}  // namespace infer::apps
