// From a reference to a published folder.
#include "actors/loader/pull.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "actors/loader/download.h"
#include "actors/loader/part_file.h"

namespace infer::hub {
namespace {

namespace fs = std::filesystem;

constexpr const char* public_hub = "https://huggingface.co";
constexpr std::uint64_t spare_bytes = std::uint64_t{64} << 20;  // that a pull leaves free

error local_error(const fs::path& path, int code) {
  return {make_error_code(code == ENOSPC || code == EDQUOT ? fault::no_space : fault::file_system),
          path.string() + ": " + std::strerror(code)};
}

result<void> make_folder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return fail(local_error(path, code.value()));
  return success();
}

/// Held while a model is fetched; the file stays, for a lock on a removed file would keep nobody out.
class pull_lock {
 public:
  static result<pull_lock> take(const fs::path& path, const std::string& name) {
    pull_lock out(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (out.file_ < 0) return fail(local_error(path, errno));
    if (flock(out.file_, LOCK_EX | LOCK_NB) != 0)
      return fail(fault::busy, name + " is being fetched by another process: wait for it, or end it");
    return out;
  }
  pull_lock(pull_lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ~pull_lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  explicit pull_lock(int file) : file_(file) {}
  int file_;
};

std::uint64_t free_bytes_of(const fs::path& folder) {
  struct statvfs disk{};
  return statvfs(folder.c_str(), &disk) == 0 ? std::uint64_t{disk.f_bavail} * disk.f_frsize : ~std::uint64_t{0};
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code code;
  const auto bytes = fs::file_size(path, code);
  return code ? 0 : bytes;
}

int exchange_folders(const char* one, const char* other) {
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

void sync_folder(const fs::path& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  ::close(folder);
}

/// One pull after the listing: where it goes, and the steps.
class pull_run {
 public:
  pull_run(const reference& of, const chosen_model& model, const pull_options& options)
      : of_(of), model_(model), options_(options) {
    std::string leaf = of.owner + "--" + of.name + "--" + folder_of("", of, model.tag).filename().string();
    work_ = options.models / ".pulling" / leaf;
    target_ = folder_of(options.models, of, model.tag);
    old_ = work_.string() + ".old";
  }

  result<void> run(web_client& web) {
    INFER_TRYV(make_folder(work_.parent_path()));
    INFER_TRY(const auto lock, pull_lock::take(work_.string() + ".lock", model_name(of_, model_)));
    if (is_published()) {
      std::error_code ignored;
      fs::remove_all(work_, ignored);  // what a pull that was killed while it published may have left
      return success();
    }
    INFER_TRYV(make_folder(work_));
    if (read_small(work_ / manifest_name) != manifest_text(of_, model_)) {  // it is written when all files are there
      INFER_TRYV(remove_strangers());
      take_over();
      INFER_TRYV(check_space());
      for (const hub_file& file : model_.files) {
        INFER_TRYV(fetch(web, file));
      }
      INFER_TRYV(write_whole(work_ / manifest_name, manifest_text(of_, model_)));
    }
    return publish();
  }

  const fs::path& target() const { return target_; }

 private:
  fs::path local(const hub_file& file) const { return work_ / fs::path(file.path).filename(); }

  bool is_published() const {
    if (read_small(target_ / manifest_name) != manifest_text(of_, model_)) return false;
    return std::ranges::all_of(model_.files, [&](const hub_file& file) {
      return size_of(target_ / fs::path(file.path).filename()) == file.bytes;
    });
  }

  /// An earlier pull may have been of an earlier state of the repository.
  result<void> remove_strangers() {
    std::set<std::string> known;
    for (const hub_file& file : model_.files)
      for (const char* ending : {"", ".part", ".from"}) known.insert(local(file).filename().string() + ending);
    std::error_code code;
    for (fs::directory_iterator it(work_, code), end; !code && it != end; it.increment(code))
      if (!known.contains(it->path().filename())) fs::remove_all(it->path(), code);
    if (code) return fail(local_error(work_, code.value()));
    return success();
  }

  std::uint64_t free_bytes() const { return (options_.free_bytes ? options_.free_bytes : free_bytes_of)(work_); }

  /// Files of the published model that the hub still has as they are need not be fetched again.
  void take_over() {
    const std::vector<hub_file> there = stored_files(target_);
    for (const hub_file& file : model_.files) {
      const std::string name = local(file).filename();
      if (!file.sum.known() || part_file::is_finished(local(file), file.bytes, file.sum)) continue;
      const bool is_same = std::ranges::any_of(there, [&](const hub_file& old) {
        return old.path == name && old.bytes == file.bytes && old.sum == file.sum;
      });
      const std::uint64_t free = free_bytes();
      if (is_same)
        part_file::adopt(target_ / name, local(file), file.bytes, file.sum, free - std::min(free, spare_bytes));
    }
  }

  result<void> check_space() {
    std::uint64_t missing = 0;
    for (const hub_file& file : model_.files)
      if (!part_file::is_finished(local(file), file.bytes, file.sum))
        missing += file.bytes - std::min(file.bytes, size_of(local(file).string() + ".part"));
    const std::uint64_t free = free_bytes();
    if (missing == 0 || free >= missing + spare_bytes) return success();
    return fail(fault::no_space, model_name(of_, model_) + " needs " + format_bytes(missing) + " more and " +
                                     format_bytes(spare_bytes) + " to spare; " + options_.models.string() + " has " +
                                     format_bytes(free) + " free: make room, or choose another folder with --models");
  }

  result<void> fetch(web_client& web, const hub_file& file) {
    const std::uint64_t before = done_;
    const auto report = [&](std::uint64_t bytes) {
      if (options_.progress) options_.progress({file.path, before + bytes, model_.bytes()});
    };
    const auto sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
    const download_settings settings{options_.tries, options_.wait ? options_.wait : sleep, report};
    INFER_TRYV(download(web, options_.hub, file_url(options_.hub, of_, file.path), file, local(file), settings));
    done_ += file.bytes;
    report(file.bytes);
    return success();
  }

  result<void> publish() {
    for (const hub_file& file : model_.files) ::unlink((local(file).string() + ".from").c_str());
    sync_folder(work_);
    INFER_TRYV(make_folder(target_.parent_path()));
    const bool replaces = ::access(target_.c_str(), F_OK) == 0;
    const bool done = replaces ? swap_in() : ::rename(work_.c_str(), target_.c_str()) == 0;
    if (!done) return fail(local_error(target_, errno));
    sync_folder(target_.parent_path());
    std::error_code ignored;
    if (replaces) fs::remove_all(work_, ignored);
    fs::remove_all(old_, ignored);  // also that of a pull that was killed between two renames
    return success();
  }

  /// Puts the new folder in the old one's place; false: not done, with errno.
  bool swap_in() {
    const auto exchange = options_.exchange ? options_.exchange : exchange_folders;
    if (exchange(work_.c_str(), target_.c_str()) == 0) return true;
    // Not every file system exchanges: then there is a moment with neither. A pull that is killed in it is ended by the
    // next, for the new folder is whole.
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
    std::error_code ignored;
    fs::remove_all(old_, ignored);
    if (::rename(target_.c_str(), old_.c_str()) != 0) return false;
    if (::rename(work_.c_str(), target_.c_str()) == 0) return true;
    const int code = errno;
    ::rename(old_.c_str(), target_.c_str());
    errno = code;
    return false;
  }

  const reference& of_;
  const chosen_model& model_;
  const pull_options& options_;
  fs::path work_, target_, old_;
  std::uint64_t done_ = 0;
};

bool may_be_out_of_date(const error& e) {
  return e.code == fault::wrong_content || e.code == fault::misbehaves;
}

}  // namespace

std::string default_endpoint() {
  const char* given = std::getenv("HF_ENDPOINT");
  std::string out = given == nullptr || *given == 0 ? public_hub : given;
  while (out.ends_with('/')) out.pop_back();
  return out;
}

result<stored_model> pull(const reference& of, const pull_options& options) {
  if (options.models.empty())
    return fail(fault::file_system,
                "there is no home folder to keep models in; name a folder with --models or in INFER_MODELS");
  web_client web(options.stall_seconds);
  for (bool first = true;; first = false) {
    INFER_TRY(const auto files, list_files(web, options.hub, of));
    INFER_TRY(const auto model, choose_files(of, files));
    if (options.say && first && !model.remark.empty()) options.say(model.remark);
    pull_run run(of, model, options);
    const result<void> done = run.run(web);
    if (done) {
      for (auto& stored : list_models(options.models))
        if (stored.folder == run.target()) return std::move(stored);
      return fail(fault::file_system, run.target().string() + " cannot be read again");
    }
    // The repository may have changed since it was listed: then it is listed once more.
    if (!first || !may_be_out_of_date(done.error())) return fail(done.error());
  }
}

}  // namespace infer::hub
