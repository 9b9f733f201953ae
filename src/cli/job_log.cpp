#include "cli/job_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>

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

Result<JobLog> JobLog::create(const std::string& path, std::function<std::string(TaskId)> command) {
  TRY_ASSIGN(auto fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666));
  JobLog log(std::move(fd), path, std::move(command));
  TRY(log.flush());
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
