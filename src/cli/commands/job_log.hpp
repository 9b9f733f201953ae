#pragma once
/// A table of the attempts that ended, in the columns of GNU parallel's --joblog. One thread.

#include <functional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/event.hpp"

namespace gantry::cli {

/// One line, without its end. `command` is a shell's text.
std::string job_log_line(const AttemptReport& report, const std::string& command);

class JobLog {
 public:
  /// Replaces what the file held. `command` tells what a task runs. Refuses `study`, the file that
  /// is being run, and a pipe that nobody reads.
  static Result<JobLog> create(const std::string& path, std::function<std::string(TaskId)> command,
                               const std::string& study = {});

  void add(const AttemptReport& report);
  /// Writes the lines that were added; nothing more after an error.
  Result<> flush();

 private:
  JobLog(UniqueFd fd, std::string path, std::function<std::string(TaskId)> command);

  UniqueFd fd_;
  std::string path_;
  std::function<std::string(TaskId)> command_;
  std::string text_;
};

}  // namespace gantry::cli
