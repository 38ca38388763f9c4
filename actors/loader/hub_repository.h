// What a repository on a hub holds, and the addresses of its files.
#pragma once

#include <string>
#include <vector>

#include "actors/loader/digest.h"
#include "actors/loader/hub_reference.h"
#include "actors/loader/web_client.h"

namespace infer::hub {

/// The server and what to show it.
struct hub_address {
  std::string endpoint;  // "https://host", without a slash at the end
  std::string token;     // empty: none
};

struct hub_file {
  std::string path;  // inside the repository; is_safe_path
  std::uint64_t bytes = 0;
  checksum sum;
};

/// All files of a repository's revision, listing page by listing page.
/// Errors:  fault::refused, not_found, unreachable, misbehaves; each says what to do.
result<std::vector<hub_file>> list_files(web_client& web, const hub_address& hub, const reference& of);

/// Where the file lies.
std::string file_url(const hub_address& hub, const reference& of, const std::string& path);

/// The error for an answer that is no success: of `url`, asked for on behalf of `what`.
error refusal(const web_answer& answer, const hub_address& hub, const std::string& what);

/// `text` with every byte but letters, digits, "-._~" and "/" as %XX.
std::string escaped_path(std::string_view text);

}  // namespace infer::hub
