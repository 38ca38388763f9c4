// Taking references apart.
#include "actors/loader/hub_reference.h"

#include <algorithm>

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
  reference out;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    out.revision = text.substr(at + 1);
    text = text.substr(0, at);
    if (!is_safe_path(out.revision)) return bad();
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return bad();
  out.owner = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  if (const std::size_t file = text.find('/'); file != std::string_view::npos) {
    out.file = text.substr(file + 1);
    text = text.substr(0, file);
    if (!is_safe_path(out.file) || !out.file.ends_with(".gguf")) return bad();
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
