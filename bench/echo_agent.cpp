// An agent that runs nothing: every task has ended as soon as it has come. For measuring what the
// rest of Gantry does with many hosts (bench/run agents). Called as gantry-agent is:
//   echo_agent relay STATE_DIR SCRATCH
// Everything else is left to the real agent, which $GANTRY_REAL_AGENT names.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/protocol.hpp"
#include "base/fd.hpp"

namespace {

using namespace gantry;
using agent::MessageType;

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// False when it is nothing that gantry says.
bool answer(const agent::Frame& frame, std::uint64_t& receipts, std::string& out) {
  if (frame.type == MessageType::hello) {
    const auto hello = decode<agent::Hello>(frame.body);
    if (!hello) return false;
    agent::Welcome welcome;
    welcome.pid = ::getpid();
    welcome.cores = hello->cores;
    encode(out, welcome);
    return true;
  }
  if (frame.type != MessageType::start) return true;
  const auto start = decode<agent::Start>(frame.body);
  if (!start) return false;
  agent::Ended ended;
  ended.key = start->key;
  ended.started_ns = ended.ended_ns = now_ns();
  ended.tag = start->tag;
  ended.swept = true;
  encode(out, agent::Started{start->key, ended.started_ns});
  encode(out, ++receipts, ended);
  return true;
}

int serve() {
  agent::FrameReader reader;
  std::uint64_t receipts = 0;
  std::string out;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n <= 0) return n == 0 ? 0 : 1;
    reader.append({buffer, static_cast<std::size_t>(n)});
    while (const auto frame = reader.next())
      if (!answer(*frame, receipts, out)) return 1;
    if (!write_all(STDOUT_FILENO, out)) return 1;
    out.clear();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "relay") return serve();
  const char* real = std::getenv("GANTRY_REAL_AGENT");
  if (real != nullptr) ::execv(real, argv);
  return 2;
}
