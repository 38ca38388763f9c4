// Fetching one file: resumed after every kind of break, checked at the end.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "actors/loader/hub_repository.h"

namespace infer::hub {

struct download_settings {
  std::uint32_t tries = 6;  // that bring nothing before it is given up
  std::function<void(std::chrono::milliseconds)> wait;
  std::function<void(std::uint64_t bytes)> progress;  // of this file, as often as bytes come
};

/// Fetches `file` to `target`, with `target`.part and `target`.from beside it meanwhile; `target` appears whole and
/// right, or not at all. A part that is there is gone on with, if the server still has the file it is a part of.
/// Errors:  fault::refused, not_found, unreachable (after `tries`), misbehaves, wrong_content, no_space, file_system.
result<void> download(web_client& web, const hub_address& hub, const std::string& url, const hub_file& file,
                      const std::filesystem::path& target, const download_settings& settings);

}  // namespace infer::hub
