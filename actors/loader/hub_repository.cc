// Reading a hub's listing of files.
#include "actors/loader/hub_repository.h"

#include <boost/json/parse.hpp>

#include "engine/formats/quote.h"

namespace infer::hub {
namespace {

constexpr std::size_t most_pages = 100, most_listing_bytes = 16 << 20;

result<hub_file> file_of(const boost::json::object& entry, const std::string& what) {
  const auto bad = [&](const char* sentence) { return fail(fault::misbehaves, what + ": the listing " + sentence); };
  const auto text = [](const boost::json::object& of, const char* key) -> std::string {
    const auto* value = of.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const auto number = [](const boost::json::object& of, const char* key) -> std::optional<std::uint64_t> {
    const auto* value = of.if_contains(key);
    if (value == nullptr || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
    return static_cast<std::uint64_t>(value->get_int64());
  };
  hub_file out;
  out.path = text(entry, "path");
  if (!is_safe_path(out.path)) return bad("has a path that leads out of the repository");
  auto bytes = number(entry, "size");
  out.sum.git_blob = text(entry, "oid");
  if (const auto* lfs = entry.if_contains("lfs"); lfs != nullptr && lfs->is_object()) {
    out.sum = {text(lfs->get_object(), "oid"), {}};
    if (out.sum.sha256.starts_with("sha256:")) out.sum.sha256.erase(0, 7);
    if (const auto stored = number(lfs->get_object(), "size")) bytes = stored;
  }
  if (!bytes) return bad("has a file without a size");
  out.bytes = *bytes;
  return out;
}

/// The URL in `<…>; rel="next"`; empty where there is none.
std::string next_page(std::string_view link) {
  while (!link.empty()) {
    const std::size_t open = link.find('<'), close = link.find('>');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
    const std::size_t end = link.find(',', close);
    const std::string_view rest = link.substr(close, end == std::string_view::npos ? end : end - close);
    if (rest.find("rel=\"next\"") != std::string_view::npos)
      return std::string(link.substr(open + 1, close - open - 1));
    if (end == std::string_view::npos) return {};
    link.remove_prefix(end + 1);
  }
  return {};
}

result<void> read_page(const std::string& text, const std::string& what, std::vector<hub_file>& files) {
  boost::json::error_code code;
  const auto page = boost::json::parse(text, code);
  if (code || !page.is_array()) return fail(fault::misbehaves, what + ": the listing is not a JSON array");
  for (const auto& entry : page.get_array()) {
    if (!entry.is_object()) return fail(fault::misbehaves, what + ": the listing has an entry that is no object");
    const auto* type = entry.get_object().if_contains("type");
    if (type != nullptr && type->is_string() && type->get_string() != "file") continue;
    INFER_TRY(auto file, file_of(entry.get_object(), what));
    files.push_back(std::move(file));
  }
  return success();
}

/// A slash in a revision would end it.
std::string escaped_revision(const reference& of) {
  std::string out;
  for (const char c : escaped_path(of.revision)) out += c == '/' ? std::string("%2F") : std::string(1, c);
  return out;
}

}  // namespace

std::string escaped_path(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "-._~/";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
        plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

error refusal(const web_answer& answer, const hub_address& hub, const std::string& what) {
  const int status = answer.head.status;
  const std::string said = what + ": " + hub.endpoint + " answered " + std::to_string(status) + ": ";
  if (status == 401 || status == 403) {
    const std::string todo =
        hub.token.empty() ? "set HF_TOKEN or --token to a token of yours, accept the licence on the model's page "
                            "where it has one, and check the name"
                          : "the token gives no access: accept the licence on the model's page, and check the name";
    return {make_error_code(fault::refused), said + todo};
  }
  if (status == 404 || status == 410)
    return {make_error_code(fault::not_found), said + "check the name, the file and the revision"};
  if (status == 0) return {make_error_code(fault::unreachable), what + ": " + hub.endpoint + ": " + answer.trouble};
  if (answer.whole) return {make_error_code(fault::unreachable), said + "try again later"};
  return {make_error_code(fault::unreachable),
          what + ": " + hub.endpoint + ": " + (answer.trouble.empty() ? "the answer is too long" : answer.trouble)};
}

std::string file_url(const hub_address& hub, const reference& of, const std::string& path) {
  return hub.endpoint + "/" + of.repository() + "/resolve/" + escaped_revision(of) + "/" + escaped_path(path);
}

result<std::vector<hub_file>> list_files(web_client& web, const hub_address& hub, const reference& of) {
  const std::string what = of.repository();
  std::string url = hub.endpoint + "/api/models/" + what + "/tree/" + escaped_revision(of) + "?recursive=true";
  std::vector<hub_file> files;
  for (std::size_t page = 0; page < most_pages && !url.empty(); ++page) {
    if (!url.starts_with(hub.endpoint + "/"))
      return fail(fault::misbehaves, what + ": the listing goes on at another server");
    std::string text;
    const web_answer answer = web.get_text({url, hub.token}, text, most_listing_bytes);
    if (!answer.whole || answer.head.status != 200) return fail(refusal(answer, hub, what));
    INFER_TRYV(read_page(text, what, files));
    url = next_page(answer.head.link);
  }
  return files;
}

}  // namespace infer::hub
