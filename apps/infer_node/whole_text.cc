// Reading to the end.
#include "apps/infer_node/whole_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

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

std::string with_home(const std::string& path) {
  const char* const home = std::getenv("HOME");
  const bool is_home = path == "~" || path.starts_with("~/");
  return is_home && home != nullptr ? home + path.substr(1) : path;
}

}  // namespace infer::apps
