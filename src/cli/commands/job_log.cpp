#include "cli/commands/job_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace gantry::cli {

std::string job_log_line(const AttemptReport& report, const std::string& command) {
  // What is neither an exit status nor a signal has no number of its own there.
  int status = -1;
  int signal = 0;
  if (report.cause == FailureCause::none) status = 0;
  if (report.cause == FailureCause::exit_code) status = report.code;
  if (report.cause == FailureCause::signal) {
    status = 0;
    signal = report.code;
  }
  return fmt::format("{}\t:\t{:.3f}\t{:10.3f}\t0\t{}\t{}\t{}\t{}", report.key.task.value(),
                     seconds(report.started.time_since_epoch()),
                     seconds(report.ended - report.started), report.out.size, status, signal,
                     command);
}

JobLog::JobLog(UniqueFd fd, std::string path, std::function<std::string(TaskId)> command)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      command_(std::move(command)),
      text_("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n") {}

Result<JobLog> JobLog::create(const std::string& path, std::function<std::string(TaskId)> command,
                              const std::string& study) {
  constexpr auto kHint = "name another file for --joblog";
  // Emptied only when it is known what it is; and a pipe must not make us wait for its reader.
  auto fd = open_file(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0666);
  struct stat info {};
  struct stat ours {};
  if (!fd && ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode))
    return fail(ErrorCode::usage, path + ": nobody reads this pipe", kHint);
  if (!fd) return fail(ErrorCode::io, fd.error().message, kHint);
  if (::fstat(fd->get(), &info) != 0) return fail_errno(path);
  if (!study.empty() && ::stat(study.c_str(), &ours) == 0 && ours.st_ino == info.st_ino &&
      ours.st_dev == info.st_dev)
    return fail(ErrorCode::usage,
                path + ": this is the sweep file, which the job log would replace", kHint);
  if (S_ISREG(info.st_mode) && ::ftruncate(fd->get(), 0) != 0) return fail_errno(path);
  ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) & ~O_NONBLOCK);
  JobLog log(std::move(*fd), path, std::move(command));
  if (const auto written = log.flush(); !written)
    return fail(ErrorCode::io, written.error().message, kHint);
  return log;
}

void JobLog::add(const AttemptReport& report) {
  if (fd_) text_ += job_log_line(report, command_(report.key.task)) + "\n";
}

Result<> JobLog::flush() {
  if (!fd_) return {};
  auto written = write_all(fd_.get(), text_);
  text_.clear();
  if (written) return {};
  fd_.reset();
  return fail(ErrorCode::io, path_ + ": " + written.error().message,
              "the job log is incomplete; 'gantry tasks --json' has all of it");
}

}  // namespace gantry::cli
