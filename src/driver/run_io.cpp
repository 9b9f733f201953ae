#include "driver/run_io.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "driver/attempt_results.hpp"
#include "driver/outdated.hpp"
#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

/// Whatever its tasks declare that they write.
std::vector<std::string> written_files(const Application& application) {
  std::vector<std::string> files;
  Task task;
  for (std::uint32_t i = 1; i <= application.size(); ++i) {
    application.fill_task(TaskId(i), task);
    for (const auto* list : {&task.outputs, &task.collect})
      files.insert(files.end(), list->begin(), list->end());
  }
  return files;
}

}  // namespace

ContentCache::Study study_of(const Application& application) {
  return ContentCache::Study([&application] { return written_files(application); });
}

Result<Fingerprint> RunIo::fingerprint(const TaskKey& key, const Task& task) {
  const ContentCache::As as(contents_, files_->study);
  const ContentCache::Aside aside(contents_);
  Inputs& inputs = inputs_[key];
  inputs.clear();
  return contents_.fingerprint(task, stop_, &inputs);
}

Result<std::vector<TaskFile>> RunIo::files(const TaskKey& key) {
  const ContentCache::As as(contents_, files_->study);
  const ContentCache::Aside aside(contents_);
  std::vector<TaskFile> files;
  for (const auto& input : inputs_[key]) {
    TRY_ASSIGN(auto some, contents_.files(*input.path, stop_));
    for (TaskFile& file : some) {
      file.shared = shared_file(key.task, *input.path);
      files.push_back(std::move(file));
    }
  }
  return files;
}

Result<std::vector<TaskFile>> RunIo::shared_folder(FileId folder) {
  const auto& shared = files_->shared.shared();
  if (std::ranges::find(shared, folder, &FileMade::file) == shared.end()) return {};
  const ContentCache::As as(contents_, files_->study);
  return contents_.files(names_.path(folder), stop_);
}

std::optional<FileId> RunIo::shared_file(TaskId task, const std::string& path) const {
  if (files_->shared.empty()) return std::nullopt;
  for (const FileId file : files_->shared.shared_by(task))
    if (names_.path(file) == path) return file;
  return std::nullopt;
}

RunIo::Inputs RunIo::forget(const TaskKey& key) {
  const auto found = inputs_.find(key);
  return found == inputs_.end() ? Inputs{} : std::move(inputs_.extract(found).mapped());
}

AttemptEnded RunIo::end_of(ReportReceived received, const std::string& host_name) {
  AttemptEnded ended;
  ended.report = std::move(received.report);
  ended.host = received.host;
  ended.host_name = host_name;
  ended.parameters = application().parameters(ended.report.key.task);
  ended.fingerprint = received.fingerprint;
  ended.besides = received.besides;
  read_results(options_.state_dir, application(), ended);
  // One that was cancelled in the agent's queue has not been tried.
  if (ended.report.cause != FailureCause::cancelled || was_started(ended.report)) ++executed;
  if (ended.report.out.truncated || ended.report.err.truncated) ++cut;
  return ended;
}

bool RunIo::is_of_another_study(const ReportReceived& received) const {
  if (received.fingerprint.empty()) return false;
  return received.fingerprint.command !=
         command_digest(application().task(received.report.key.task));
}

bool RunIo::has_started(TaskId task) const {
  const auto first = inputs_.lower_bound({run.id, task, AttemptId()});
  return first != inputs_.end() && first->first.task == task;
}

Result<std::optional<OutdatedReason>> RunIo::why_stale(const ReportReceived& received) {
  const AttemptReport& report = received.report;
  if (report.cause == FailureCause::lost || report.cause == FailureCause::cancelled)
    return std::nullopt;
  const ContentCache::As as(contents_, files_->study);
  const ContentCache::Aside aside(contents_);
  const Task task = application().task(report.key.task);
  const auto print = contents_.fingerprint(task, stop_);
  if (stop_()) return std::nullopt;  // whoever goes on with the run looks again
  if (!print && print.error().code == ErrorCode::busy) return tl::unexpected<Error>(print.error());
  if (!print) return OutdatedReason{OutdatedBy::input_missing, print.error().message};
  const auto holds =
      contents_.holds(received.fingerprint, report.started, task, *print, stop_, report.ended);
  if (stop_() || (holds && *holds)) return std::nullopt;
  if (!holds && holds.error().code == ErrorCode::busy) return tl::unexpected<Error>(holds.error());
  return what_changed({received.fingerprint, report.started}, *print, task);
}

bool RunIo::check_inputs(AttemptEnded& ended, const Inputs& inputs) {
  const auto cause = ended.report.cause;
  // A value that could not be read can perhaps be read by another rule.
  if (cause != FailureCause::none && cause != FailureCause::missing_result) return true;
  const ContentCache::As as(contents_, files_->study);
  bool own_work = false;
  for (const auto& used : inputs) {
    const auto has_changed = contents_.has_changed(used, stop_);
    if (has_changed == ContentCache::Changed::being_read) return false;
    if (has_changed == ContentCache::Changed::no) continue;
    if (is_own_work(ended, used)) {
      own_work = true;
      continue;
    }
    ended.fingerprint.inputs = {};
    if (cause != FailureCause::none) return true;
    ended.changed_input = *used.path;
    ended.report.detail = reason_text({OutdatedBy::input_meanwhile, *used.path});
    ++changed[*used.path];
    return true;
  }
  if (!own_work) return true;
  const auto print = contents_.fingerprint(application().task(ended.report.key.task), stop_,
                                           nullptr, ended.report.started - kStampLag);
  if (!print && print.error().code == ErrorCode::busy) return false;
  ended.fingerprint.inputs = print ? print->inputs : Digest{};
  return true;
}

bool RunIo::is_own_work(const AttemptEnded& ended, const ContentCache::Used& used) const {
  if (used.kind == ContentCache::Kind::named) return false;
  // `gzip {}`: running it again could only fail.
  if (used.kind == ContentCache::Kind::value && ::access(used.path->c_str(), F_OK) != 0)
    return true;
  // Somebody may edit a program or a value's file while it runs; but not each time that it runs.
  const auto history = store_.history(run.id, ended.report.key.task);
  return history && std::ranges::any_of(*history, [&](const store::HistoryRow& row) {
           return row.kind == "ended" && row.changed_input == *used.path;
         });
}

}  // namespace gantry::driver
