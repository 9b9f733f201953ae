#pragma once
/// What whoever starts a process needs: ways to talk to it, names that nobody can guess, its end.

#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/hash.hpp"

namespace gantry {

/// The ends of a pipe or of a pair of sockets. Closed on exec.
struct FdPair {
  UniqueFd ours;    ///< of a pipe: to read from
  UniqueFd theirs;  ///< of a pipe: to write to
};
Result<FdPair> make_pipe();
Result<FdPair> make_socket_pair();

/// All bytes until the other side closes; `what` is said in the error.
Result<std::string> read_to_end(int fd, std::string_view what);

/// Waits until the child has ended; its status, as waitpid() gives it.
int wait_for_child(int pid);

/// 128 bits that nobody can guess.
Result<Digest> random_digest();

}  // namespace gantry
