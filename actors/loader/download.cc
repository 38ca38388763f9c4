// One file, however often the server breaks off.
#include "actors/loader/download.h"

#include <algorithm>
#include <utility>

#include "actors/loader/part_file.h"

namespace infer::hub {
namespace {

using std::chrono::milliseconds;

class file_download {
 public:
  file_download(web_client& web, const hub_address& hub, const std::string& url, const hub_file& file,
                const download_settings& settings, part_file part)
      : web_(web), hub_(hub), url_(url), file_(file), settings_(settings), part_(std::move(part)) {}

  result<void> run() {
    std::uint64_t best = part_.size();
    bool wrong_before = false;
    std::uint32_t restarts = 0;
    for (std::uint32_t empty_tries = 0;;) {
      if (part_.size() < file_.bytes) {
        INFER_TRYV(attempt());
      }
      if (part_.size() == file_.bytes) {
        INFER_TRY(const bool right, part_.finish());
        if (right) return success();
        if (wrong_before)
          return fail(fault::wrong_content, file_.path +
                                                ": the checksum is not the one in the listing, twice: the "
                                                "server has another file, or something on the way damages it");
        wrong_before = true;
        best = 0;
        INFER_TRYV(part_.restart());
        continue;
      }
      // A restart is a new beginning, but only so often: a server that starts anew each time would never end.
      if (std::exchange(restarted_, false) && ++restarts <= settings_.tries) best = 0;
      empty_tries = part_.size() > best ? 0 : empty_tries + 1;
      best = std::max(best, part_.size());
      if (empty_tries >= settings_.tries) return fail(given_up());
      settings_.wait(pause(empty_tries));
    }
  }

 private:
  /// One request; what it brought is in the part.
  result<void> attempt() {
    web_request request{url_, hub_.token, part_.size(), {}};
    const bool strong = part_.etag().starts_with('"');
    if (strong) request.if_range = part_.etag();
    if (!strong && !file_.sum.known()) {  // nothing would tell whether the rest belongs to the part
      INFER_TRYV(part_.restart());
      request.from = 0;
    }
    local_ = success();
    const web_answer answer = web_.get(request, {[this](const web_head& head) { return begin(head); },
                                                 [this](byte_view bytes) { return take(bytes); }});
    INFER_TRYV(local_);
    retry_after_ = answer.head.retry_after;
    trouble_ = answer.trouble;
    const int status = answer.head.status;
    if (status == 416) return out_of_range(answer.head);
    const bool comes_and_goes = status == 0 || status == 408 || status == 429 || status >= 500;
    if (!comes_and_goes && status != 200 && status != 206) return fail(refusal(answer, hub_, file_.path));
    if (comes_and_goes && status != 0) trouble_ = "the server answered " + std::to_string(status);
    if (answer.whole && !comes_and_goes) trouble_ = "the server ended the file too early";
    return success();
  }

  /// Looks at the head of a 200 or 206; false where the body is not what was asked for.
  bool begin(const web_head& head) {
    const bool other = !part_.etag().empty() && !head.etag.empty() && head.etag != part_.etag();
    if (head.status == 206 && head.range_total && *head.range_total != file_.bytes)
      return stop(other_size(*head.range_total));
    if (head.status == 200 || other || head.range_start != part_.size()) {
      restarted_ = part_.size() > 0;
      local_ = part_.restart();
      if (!local_) return false;
    }
    if (head.etag != part_.etag()) local_ = part_.set_etag(head.etag);
    // A part that does not begin where it should is of no use: the next try asks for the whole file.
    return local_.has_value() && (head.status == 200 || (!other && head.range_start == part_.size()));
  }

  bool take(byte_view bytes) {
    const std::uint64_t room = file_.bytes - part_.size();
    const bool more = bytes.size() > room;
    if (more && !file_.sum.known())
      return stop({make_error_code(fault::misbehaves), file_.path + ": the server sends more than the " +
                                                           std::to_string(file_.bytes) + " bytes of its listing"});
    local_ = part_.append(more ? bytes.first(room) : bytes);
    if (!local_) return false;
    if (settings_.progress) settings_.progress(part_.size());
    return !more;  // what is too much is left; the checksum tells whether the rest is right
  }

  result<void> out_of_range(const web_head& head) {
    if (head.range_total && *head.range_total != file_.bytes) return fail(other_size(*head.range_total));
    trouble_ = "the server refused to go on with the file";
    return part_.restart();
  }

  bool stop(error e) {
    local_ = fail(std::move(e));
    return false;
  }

  error other_size(std::uint64_t bytes) const {
    return {make_error_code(fault::misbehaves), file_.path + ": the server's file has " + std::to_string(bytes) +
                                                    " bytes, its listing says " + std::to_string(file_.bytes)};
  }

  error given_up() const {
    return {make_error_code(fault::unreachable),
            file_.path + ": " + std::to_string(settings_.tries) + " tries in a row brought nothing, at byte " +
                std::to_string(part_.size()) + " of " + std::to_string(file_.bytes) + ": " + trouble_ +
                "; the same command goes on from there"};
  }

  milliseconds pause(std::uint32_t empty_tries) const {
    const milliseconds own(std::min<std::int64_t>(500 << std::min(empty_tries, 6u), 30'000));
    return std::max<milliseconds>(own, std::chrono::seconds(std::min(retry_after_, 120u)));
  }

  web_client& web_;
  const hub_address& hub_;
  const std::string& url_;
  const hub_file& file_;
  const download_settings& settings_;
  part_file part_;
  result<void> local_ = success();  // what went wrong on this side during a request
  std::string trouble_;
  std::uint32_t retry_after_ = 0;
  bool restarted_ = false;
};

}  // namespace

result<void> download(web_client& web, const hub_address& hub, const std::string& url, const hub_file& file,
                      const std::filesystem::path& target, const download_settings& settings) {
  if (part_file::is_finished(target, file.bytes, file.sum)) return success();
  INFER_TRY(auto part, part_file::open(target, file.bytes, file.sum));
  if (settings.progress) settings.progress(part.size());
  return file_download(web, hub, url, file, settings, std::move(part)).run();
}

}  // namespace infer::hub
