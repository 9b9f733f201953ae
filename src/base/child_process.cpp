#include "base/child_process.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gantry {

Result<FdPair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<FdPair> make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  return FdPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<std::string> read_to_end(int fd, std::string_view what) {
  std::string text;
  std::array<char, 512> buffer{};
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(what);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

int wait_for_child(int pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Result<Digest> random_digest() {
  Digest random;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    return fail_errno("getrandom");
  return random;
}

}  // namespace gantry
