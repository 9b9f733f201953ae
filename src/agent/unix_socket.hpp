#pragma once
/// Unix sockets in directories whose path may be longer than the 107 bytes that an address holds.

#include <filesystem>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

/// Listens on `<dir>/<name>`, for this user only; replaces a stale socket.
Result<UniqueFd> listen_on(const std::filesystem::path& dir, const char* name);
Result<UniqueFd> connect_to(const std::filesystem::path& dir, const char* name);
/// True when the process at the other end runs as this user (or root).
bool peer_is_own_user(int socket);

}  // namespace gantry::agent
