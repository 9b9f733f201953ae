#include "agent/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace gantry::agent {

namespace {

struct Address {
  UniqueFd directory;  ///< keeps the short path below alive
  sockaddr_un address{};
};

/// Names the directory by its descriptor: /proc/self/fd/7/socket is always short enough.
Result<Address> address_of(const std::filesystem::path& dir, const char* name) {
  Address a;
  TRY_ASSIGN(a.directory, open_file(dir, O_PATH | O_DIRECTORY));
  const std::string path = "/proc/self/fd/" + std::to_string(a.directory.get()) + "/" + name;
  a.address.sun_family = AF_UNIX;
  if (path.size() >= sizeof a.address.sun_path)
    return fail(ErrorCode::io, path + ": name too long");
  std::memcpy(a.address.sun_path, path.c_str(), path.size() + 1);
  return a;
}

}  // namespace

Result<UniqueFd> listen_on(const std::filesystem::path& dir, const char* name) {
  TRY_ASSIGN(const Address a, address_of(dir, name));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail_errno("socket");
  ::unlink((dir / name).c_str());
  // The directory is 0700, so nobody else can connect between bind and chmod.
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&a.address), sizeof a.address) != 0) {
    return fail_errno((dir / name).string());
  }
  if (::chmod((dir / name).c_str(), 0600) != 0 || ::listen(socket.get(), 8) != 0) {
    return fail_errno((dir / name).string());
  }
  return socket;
}

Result<UniqueFd> connect_to(const std::filesystem::path& dir, const char* name) {
  TRY_ASSIGN(const Address a, address_of(dir, name));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail_errno("socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&a.address), sizeof a.address) !=
      0) {
    return fail_errno((dir / name).string());
  }
  return socket;
}

bool peer_is_own_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

}  // namespace gantry::agent
