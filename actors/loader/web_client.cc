// libcurl behind one call.
#include "actors/loader/web_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <mutex>

namespace infer::hub {
namespace {

constexpr int most_redirects = 10;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "bytes 5-9/10", or "bytes */10" where the range was refused.
void read_range(std::string_view text, web_head& head) {
  if (!text.starts_with("bytes ")) return;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-'), slash = text.find('/');
  if (slash == std::string_view::npos) return;
  if (dash < slash) head.range_start = number_of(text.substr(0, dash));
  head.range_total = number_of(text.substr(slash + 1));
}

/// One line of an answer's head.
void read_line(std::string_view line, web_head& head) {
  if (line.starts_with("HTTP/")) {
    head = {};
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos)
      head.status = static_cast<int>(number_of(line.substr(space + 1, 3)).value_or(0));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "etag") head.etag = value;
  if (name == "link") head.link = value;
  if (name == "content-length") head.content_length = number_of(value);
  if (name == "content-range") read_range(value, head);
  if (name == "retry-after") head.retry_after = static_cast<std::uint32_t>(number_of(value).value_or(0));
}

/// Where bytes of the answer in progress go.
struct receiver {
  web_head head;
  const web_sink* sink = nullptr;
  bool begun = false, stopped = false;

  bool body(byte_view bytes) {
    if (head.status != 200 && head.status != 206) return true;
    if (!begun) {
      begun = true;
      stopped = sink->on_head && !sink->on_head(head);
    }
    if (!stopped) stopped = !sink->on_body(bytes);
    return !stopped;
  }
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* to) {
  read_line({data, size * count}, static_cast<receiver*>(to)->head);
  return size * count;
}

std::size_t on_bytes(char* data, std::size_t size, std::size_t count, void* to) {
  return static_cast<receiver*>(to)->body(std::as_bytes(std::span(data, size * count))) ? size * count : 0;
}

/// Scheme, host and port of a URL; empty where it has none.
std::string origin_of(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parts(curl_url(), &curl_url_cleanup);
  if (!parts || curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  std::string out;
  for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT}) {
    char* text = nullptr;
    if (curl_url_get(parts.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
    out += text;
    out += ' ';
    curl_free(text);
  }
  return out;
}

}  // namespace

struct web_client::impl {
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle{curl_easy_init(), &curl_easy_cleanup};
  std::uint32_t stall_seconds = 0;

  /// One request without redirects. `next` receives where a redirect leads.
  web_answer once(const web_request& request, bool secure, const web_sink& sink, std::string& next) {
    CURL* curl = handle.get();
    curl_easy_reset(curl);
    receiver to{{}, &sink};
    char trouble[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, secure ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "infer-node/0.1.0");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, trouble);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, long(stall_seconds));
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1024L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, long(stall_seconds));
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &to);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &to);
    if (request.from > 0) curl_easy_setopt(curl, CURLOPT_RANGE, (std::to_string(request.from) + "-").c_str());
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> fields(nullptr, &curl_slist_free_all);
    const auto add = [&](const std::string& field) {
      fields.reset(curl_slist_append(fields.release(), field.c_str()));
    };
    if (!request.token.empty()) add("Authorization: Bearer " + request.token);
    if (request.from > 0 && !request.if_range.empty()) add("If-Range: " + request.if_range);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields.get());
    const CURLcode code = curl_easy_perform(curl);
    web_answer out{std::move(to.head), code == CURLE_OK, to.stopped, {}};
    if (code != CURLE_OK && !to.stopped) out.trouble = trouble[0] != 0 ? trouble : curl_easy_strerror(code);
    char* redirect = nullptr;
    if (code == CURLE_OK && curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK &&
        redirect != nullptr)
      next = redirect;
    return out;
  }
};

web_client::web_client(std::uint32_t stall_seconds) : impl_(std::make_unique<impl>()) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  if (!impl_->handle) impl_->handle.reset(curl_easy_init());
  impl_->stall_seconds = std::max(stall_seconds, 1u);
}

web_client::web_client(web_client&&) noexcept = default;
web_client::~web_client() = default;

web_answer web_client::get(const web_request& request, const web_sink& sink) {
  if (!impl_->handle) return {.trouble = "libcurl cannot be started"};
  web_request step = request;
  const std::string home = origin_of(request.url);
  bool secure = request.url.starts_with("https://");
  for (int redirects = 0; redirects <= most_redirects; ++redirects) {
    std::string next;
    web_answer answer = impl_->once(step, secure, sink, next);
    if (next.empty()) return answer;
    step.url = std::move(next);
    secure = secure || step.url.starts_with("https://");
    if (home.empty() || origin_of(step.url) != home) step.token.clear();
  }
  return {.trouble = "the server redirects again and again"};
}

web_answer web_client::get_text(const web_request& request, std::string& text, std::size_t limit) {
  text.clear();
  return get(request, {{}, [&](byte_view bytes) {
                         if (text.size() + bytes.size() > limit) return false;
                         text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                         return true;
                       }});
}

}  // namespace infer::hub
