// Taking references apart.
#include "actors/loader/hub_reference.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "engine/formats/quote.h"

namespace infer::hub {
namespace {

bool is_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.front() != '.' && text.size() <= 200 && std::ranges::all_of(text, allowed);
}

/// Whether what follows OWNER/NAME is of an address: tree/…, blob/… or resolve/….
bool is_page(std::string_view rest) {
  for (int i = 0; i < 2; ++i) {
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return false;
    rest.remove_prefix(slash + 1);
  }
  const std::string_view kind = rest.substr(0, rest.find('/'));
  return kind == "tree" || kind == "blob" || kind == "resolve";
}

/// Takes a scheme and a host off the front, and a query off the end; false where there is no host. Without a scheme a
/// host is a word with a dot before OWNER/NAME or before a page's address; what may be OWNER/NAME/FILE is that.
bool drop_host(std::string_view& text) {
  bool has_scheme = false;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!text.starts_with(scheme)) continue;
    has_scheme = true;
    text.remove_prefix(scheme.size());
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view host = text.substr(0, slash);
  const std::string_view rest = text.substr(slash + 1);
  std::string_view path = rest.substr(0, rest.find_first_of("?#"));
  if (!path.ends_with(".gguf")) path = path.substr(0, path.find('@'));
  if (path.ends_with('/')) path.remove_suffix(1);
  const bool is_address = is_page(path) || (std::ranges::count(path, '/') == 1 && !path.ends_with(".gguf"));
  const bool is_host = is_word(host) && host.find('.') != std::string_view::npos && is_address;
  if (!has_scheme && !is_host) return false;
  text = rest.substr(0, rest.find_first_of("?#"));
  if (text.ends_with('/')) text.remove_suffix(1);
  return true;
}

/// Text with each %XX as the byte that it means; empty where one is broken.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    unsigned value = 0;
    const char* const begin = text.data() + at + 1;
    if (text.size() < at + 3) return {};
    const auto [end, bad] = std::from_chars(begin, begin + 2, value, 16);
    if (bad != std::errc{} || end != begin + 2) return {};
    out += static_cast<char>(value);
    at += 2;
  }
  return out;
}

/// Where @REVISION begins in OWNER/NAME, OWNER/NAME:QUANT or OWNER/NAME/FILE.gguf; npos where there is none. A file's
/// name may have an @ in it, so that there the revision comes after the ending; pages and what they name have none.
std::size_t revision_in(std::string_view text, bool is_address) {
  const std::size_t slash = text.find('/');
  const std::size_t file = slash == std::string_view::npos ? slash : text.find('/', slash + 1);
  const std::size_t at = text.find('@');
  if (file == std::string_view::npos || at < file) return at;
  if (is_address && is_page(text)) return std::string_view::npos;
  const std::size_t end = text.rfind(".gguf@");
  return end == std::string_view::npos ? end : end + 5;
}

bool read_file(std::string_view path, reference& out) {
  out.file = path;
  return is_safe_path(out.file) && out.file.ends_with(".gguf");
}

/// tree/REVISION, blob/REVISION/FILE or resolve/REVISION/FILE, as addresses of pages and files have it; or FILE.
bool read_page(std::string_view path, reference& out) {
  const std::size_t slash = path.find('/');
  const std::string_view kind = path.substr(0, slash);
  if (kind != "tree" && kind != "blob" && kind != "resolve") return read_file(unescaped(path), out);
  if (slash == std::string_view::npos || out.revision != "main") return false;
  path.remove_prefix(slash + 1);
  const std::size_t end = path.find('/');
  out.revision = unescaped(path.substr(0, end));
  if (!is_safe_path(out.revision)) return false;
  const bool is_whole = end == std::string_view::npos;
  return kind == "tree" ? is_whole : !is_whole && read_file(unescaped(path.substr(end + 1)), out);
}

}  // namespace

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > 1000) return false;
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 32 || c == '\\' || c == 127; }))
    return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

result<reference> parse_reference(std::string_view text) {
  const auto bad = [whole = std::string(text)] {
    return fail(fault::bad_reference, formats::quote(whole) + ": " + fault_sentence(fault::bad_reference));
  };
  if (text.starts_with("hf:")) text.remove_prefix(3);
  const bool is_address = drop_host(text);
  reference out;
  if (const std::size_t at = revision_in(text, is_address); at != std::string_view::npos) {
    out.revision = text.substr(at + 1);
    text = text.substr(0, at);
    if (!is_safe_path(out.revision)) return bad();
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return bad();
  out.owner = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  if (const std::size_t file = text.find('/'); file != std::string_view::npos) {
    std::string_view rest = text.substr(file + 1);
    text = text.substr(0, file);
    if (is_address ? !read_page(rest, out) : !read_file(rest, out)) return bad();
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    out.quant = text.substr(colon + 1);
    text = text.substr(0, colon);
    if (!is_word(out.quant)) return bad();
  }
  out.name = text;
  if (!is_word(out.owner) || !is_word(out.name)) return bad();
  return out;
}

}  // namespace infer::hub
