#include "cli/commands/study.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "cli/terminal/display_text.hpp"
#include "spec/spec.hpp"

namespace gantry::cli {
namespace {

/// Enough for ten million lines; more would not fit into the store either.
Result<std::string> read_standard_input() {
  std::string text;
  std::string piece(std::size_t{64} << 10, '\0');
  while (true) {
    const ssize_t size = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (size == 0) return text;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail_errno("cannot read standard input");
    text.append(piece, 0, static_cast<std::size_t>(size));
    if (text.size() > spec::kMaxDataFile)
      return fail(ErrorCode::usage,
                  fmt::format("standard input holds more than {} MiB of arguments",
                              spec::kMaxDataFile >> 20),
                  "put them into a file and name it with ':::: FILE'");
  }
}

/// A terminal and /dev/null do not; nor does what was closed before we started.
bool may_hold_values(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && !S_ISCHR(info.st_mode);
}

std::vector<std::string> one_liner_words(const RunWords& words, const OneLinerOptions& options) {
  std::vector<std::string> all;
  if (options.shell) all.emplace_back("--shell");
  if (options.timeout) all.push_back("--timeout=" + *options.timeout);
  if (options.retries) all.push_back("--retries=" + *options.retries);
  all.emplace_back("--");
  all.insert(all.end(), words.command.begin(), words.command.end());
  return all;
}

Study study_of(spec::LoadedSweep loaded) {
  return {Application(std::move(loaded.sweep)), std::move(loaded.source),
          std::move(loaded.warnings)};
}

}  // namespace

bool is_sweep_file(const RunWords& words) {
  return !words.marked && !words.command.empty() && names_sweep_file(words.command.front());
}

Result<Study> load_study(const RunWords& words, const OneLinerOptions& options) {
  if (words.command.empty())
    return fail(ErrorCode::usage, "nothing to run",
                "gantry run SWEEP.yaml, or gantry run -- COMMAND {} ::: VALUES; 'gantry run "
                "--help' has examples");
  if (!is_sweep_file(words)) {
    // Without a reader the message says how to give some.
    std::error_code error;
    const auto here = std::filesystem::current_path(error);
    if (error)
      return fail(ErrorCode::usage, "the current directory is gone: " + error.message(),
                  "change to another one");
    return spec::parse_one_liner(one_liner_words(words, options), here,
                                 may_hold_values(STDIN_FILENO)
                                     ? spec::ReadStdin{read_standard_input}
                                     : spec::ReadStdin{})
        .map(study_of);
  }
  if (words.command.size() > 1)
    return fail(ErrorCode::usage,
                fmt::format("'{}' after the sweep file {} is not expected",
                            fit(one_line(words.command[1]), 60, false), one_line(words.command[0])),
                "a sweep file holds its command and values; to run a program of that name write "
                "'run -- ...'");
  for (const auto& [said, key] :
       {std::pair{options.shell, "shell: true"}, std::pair{options.timeout.has_value(), "timeout:"},
        std::pair{options.retries.has_value(), "retries:"}})
    if (said)
      return fail(ErrorCode::usage, "--shell, --timeout and --retries are for one-liners",
                  fmt::format("write {} into {}", key, one_line(words.command.front())));
  return spec::load_sweep(words.command.front()).map(study_of);
}

Result<std::vector<Study>> load_studies(const RunWords& words, const OneLinerOptions& options) {
  const bool several = is_sweep_file(words) && words.command.size() > 1 &&
                       std::ranges::all_of(words.command, names_sweep_file);
  std::vector<Study> studies;
  if (!several) {
    TRY_ASSIGN(auto study, load_study(words, options));
    studies.push_back(std::move(study));
    return studies;
  }
  for (const std::string& file : words.command) {
    RunWords one;
    one.command.push_back(file);
    TRY_ASSIGN(auto study, load_study(one, options));
    studies.push_back(std::move(study));
  }
  return studies;
}

Result<Study> reload_study(const store::RunRecord& record) {
  TRY_ASSIGN(auto study, spec::reload(record.source).map(study_of));
  Application& application = study.application;
  if (application.digest() != record.digest ||
      !application.number_tasks(record.batches, record.numbering))
    return fail(ErrorCode::usage,
                fmt::format("the study of run {} no longer gives the same tasks: a file or folder "
                            "that its values come from has changed",
                            record.id.value()),
                "start the changed study with 'gantry run'; it reuses what is unchanged");
  return study;
}

Result<Application> load_application(const SpecSource& source) {
  TRY_ASSIGN(auto study, spec::reload(source).map(study_of));
  TRY(study.application.check_inputs());
  return std::move(study.application);
}

Result<Application> reload_application(const store::RunRecord& record) {
  TRY_ASSIGN(auto study, reload_study(record));
  return std::move(study.application);
}

}  // namespace gantry::cli
