/// Times a mover: all files of a folder to a site's depot, or some of its files home.
///   move_bench put FOLDER COMMAND...            COMMAND: e.g. ssh HOST gantry-agent files SCRATCH
///   move_bench get FOLDER work/FOLDER COMMAND...   the files of FOLDER's names, to FOLDER

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "actuate/move/stream_mover.hpp"

namespace {

using namespace gantry;

Result<UniqueFd> start(char** command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  if (::fork() == 0) {
    ::dup2(ends[1], STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(command[0], command);
    std::_Exit(127);
  }
  ::close(ends[1]);
  return UniqueFd(ends[0]);
}

/// Polls until so many answers have come; false when one is a failure.
bool await(Mover& mover, std::size_t answers, bool inventory) {
  std::vector<MoverEvent> events;
  while (answers > 0 || inventory) {
    events.clear();
    if (const auto polled = mover.poll(events); !polled) return false;
    for (const auto& event : events) {
      if (const auto* failed = std::get_if<TransferFailed>(&event)) {
        std::fprintf(stderr, "%s\n", failed->why.c_str());
        return false;
      }
      if (std::holds_alternative<Inventory>(event)) {
        inventory = false;
      } else {
        --answers;
      }
    }
    const ReadySet::Wanted wanted = mover.waits_for();
    pollfd fd{wanted.fd, static_cast<short>(wanted.to_send ? POLLIN | POLLOUT : POLLIN), 0};
    if (events.empty()) ::poll(&fd, 1, 100);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const bool puts = std::string_view(argv[1]) == "put";
  const auto begin = std::chrono::steady_clock::now();
  StreamMoverOptions options;
  options.connect = [&] { return start(argv + (puts ? 3 : 4)); };
  const auto mover = make_stream_mover(std::move(options));
  if (!await(*mover, 0, true)) return 1;
  const auto connected = std::chrono::steady_clock::now();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    ++files;
    if (puts) {
      mover->put({entry.path(), hash_file(entry.path()).value(), entry.file_size()});
    } else {
      mover->get({std::string(argv[3]) + "/" + entry.path().filename().string(), entry.path()});
    }
  }
  if (!await(*mover, files, false)) return 1;
  const auto end = std::chrono::steady_clock::now();
  std::printf("%zu files: %.2f s, of which %.2f s to connect\n", files,
              std::chrono::duration<double>(end - begin).count(),
              std::chrono::duration<double>(connected - begin).count());
  mover->close();
  return 0;
}
