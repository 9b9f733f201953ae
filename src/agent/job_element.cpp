#include "agent/job_element.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "agent/agent.hpp"
#include "agent/causes.hpp"
#include "agent/frame_stream.hpp"
#include "agent/job_folder.hpp"
#include "agent/report_book.hpp"
#include "agent/shepherd.hpp"
#include "base/child_process.hpp"
#include "base/time.hpp"

extern char** environ;

namespace gantry::agent {

namespace {

/// Slots of all jobs of a site have different numbers: their large output is in files of their own.
constexpr unsigned kNumbersOfBatch = 10'000;
constexpr int kSignalLagMs = 200;

/// From the start to the report.
class Element {
 public:
  Element(const JobFolder& folder, std::uint32_t index, Started started)
      : folder_(folder), index_(index), started_(started) {}

  Result<> run(const ShepherdConfig& config, const Hello& hello, const Start& start) {
    const sigset_t wanted = stop_signals();
    signals_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return fail_errno("signalfd");
    TRY_ASSIGN(ShepherdHandle handle, start_shepherd(config));
    auto served = serve(std::move(handle.socket), hello, start);
    // It tidies up when it is left alone; the batch system would kill it in the middle of that.
    shepherd_.close();
    wait_for_child(handle.pid);
    return served;
  }

 private:
  Result<> serve(UniqueFd socket, const Hello& hello, const Start& start) {
    shepherd_ = FrameStream(std::move(socket));
    encode(shepherd_.outbox(), hello);
    encode(shepherd_.outbox(), start);
    for (;;) {
      shepherd_.send();
      const short want = shepherd_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
      std::array fds{pollfd{shepherd_.fd(), want, 0}, pollfd{signals_.get(), POLLIN, 0}};
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return fail_errno("poll");
      hear_signals();
      const bool gone = shepherd_.receive(std::size_t{64} << 10) == FrameStream::Received::end;
      while (const auto frame = shepherd_.next())
        if (frame->type == MessageType::ended)
          return folder_.write_report(index_, unless_stopped(std::string(frame->body)));
      if (gone || shepherd_.broken())
        return folder_.write_report(index_, lost("the process that watched it died"));
    }
  }

  void hear_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (!std::exchange(stopped_, true)) encode(shepherd_.outbox(), Cancel{started_.key});
    }
  }

  [[nodiscard]] std::string lost(const char* why) const {
    return unrun_report(started_, Cause::lost, why);
  }

  /// The batch system signals all processes of a job: the task may have died of it first.
  std::string unless_stopped(std::string body) {
    const auto ended = decode_ended(body);
    if (!ended || ended->second.cause == static_cast<std::uint8_t>(Cause::none)) return body;
    if (!stopped_ && was_told_to_end(ended->second)) {
      pollfd fd{signals_.get(), POLLIN, 0};
      ::poll(&fd, 1, kSignalLagMs);
    }
    hear_signals();
    return stopped_ ? lost("the batch system ended its job") : body;
  }

  const JobFolder& folder_;
  std::uint32_t index_;
  Started started_;
  UniqueFd signals_;
  FrameStream shepherd_;
  bool stopped_ = false;
};

}  // namespace

Result<> run_job_element(const std::filesystem::path& batch, std::uint32_t index,
                         const std::filesystem::path& output_dir, SandboxKeeper keeper) {
  const JobFolder folder(batch);
  TRY_ASSIGN(JobFolder::Content content, folder.read());
  if (index == 0 || index > content.tasks.size())
    return fail(ErrorCode::usage, "there is no such element in " + batch.string());
  const sigset_t held = stop_signals();
  ::sigprocmask(SIG_BLOCK, &held, nullptr);
  for (const int ignored : {SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ})
    ::signal(ignored, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Start& start = content.tasks[index - 1];
  const Started started{start.key, to_ns(RealClock{}.now())};
  TRY_ASSIGN(const bool ours, folder.claim(index, started.started_ns));
  if (!ours) return {};
  if (content.hello.own_environment)
    for (char** entry = environ; *entry != nullptr; ++entry)
      content.hello.environment.emplace_back(*entry);
  TRY_ASSIGN(const UniqueFd lock, open_file("/dev/null", O_RDONLY));
  const unsigned number =
      static_cast<unsigned>(std::stoul(batch.filename().string())) * kNumbersOfBatch + index;
  const ShepherdConfig config{batch,  output_dir,        "GANTRY_AGENT_MARK=job",
                              number, std::move(keeper), lock.get()};
  return Element(folder, index, started).run(config, content.hello, start);
}

}  // namespace gantry::agent
