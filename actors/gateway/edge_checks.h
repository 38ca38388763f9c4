// What is checked on the head of a request before anything else happens: key, origin, type of the body.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/gateway/request_head.h"

namespace infer::actors {

/// Which of `keys` is in `Authorization: Bearer`, `x-api-key` or `api-key`, from 1 on; 0 where there are no keys;
/// nothing where none of them is given. Takes equally long for every wrong key of the same length.
std::optional<std::uint64_t> caller_of(const request_head& head, const std::vector<std::string>& keys);

/// No origin, the host asked for, this machine, a program that is no browser, or one of `allowed` ("*": any). Where the
/// server listens on `address` for this machine alone, the host must be an IP address or localhost: any site can have
/// its own name point to this machine.
bool is_allowed_origin(const request_head& head, const std::vector<std::string>& allowed, const std::string& address);

/// The body may be JSON: anything but types that clearly are not, and no content coding.
bool is_readable_type(const request_head& head);

/// The client's x-request-id where it is a sane one, else a new one.
std::string request_id_of(const request_head& head);

}  // namespace infer::actors
