// The desk's dealings with its batch system: one command at a time.
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "agent/job_desk_impl.hpp"
#include "agent/report_book.hpp"
#include "agent/task_queue.hpp"
#include "base/ssh_text.hpp"
#include "base/whole_number.hpp"

namespace gantry::agent {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// What comes within such a while becomes one array.
constexpr auto kGather = 100ms;
/// Of an array: what Slurm allows unless it is told otherwise.
constexpr std::size_t kLargestArray = 1000;
/// A controller that is slow to answer is asked less often.
constexpr auto kQueueEvery = 2s;
constexpr int kRestForWork = 10;
/// What was just submitted may not be in the list yet, and a report may take a while to be seen.
constexpr std::uint32_t kMissedIsGone = 3;

std::chrono::seconds wait_after(std::uint32_t failures) {
  return std::min<std::chrono::seconds>(120s, 2s * (1 << std::min(failures, 6U)));
}

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// A number and nothing else; 0 when it is none.
std::uint32_t number_of(std::string_view text) {
  return parse_whole<std::uint32_t>(text).value_or(0);
}

}  // namespace

fs::path JobDesk::batch_path(std::uint32_t number) const {
  return config_.state_dir / "jobs" / std::to_string(number);
}

Result<> JobDesk::recover() {
  std::error_code error;
  std::vector<std::uint32_t> numbers;
  for (fs::directory_iterator at(config_.state_dir / "jobs", error), end; !error && at != end;
       at.increment(error))
    if (const auto number = number_of(at->path().filename().string()); number != 0)
      numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) {
    next_batch_ = number + 1;
    const JobFolder folder(batch_path(number));
    auto content = folder.read();
    if (!content && content.error().code == ErrorCode::version)
      return tl::unexpected<Error>(content.error());
    if (!content) {  // it was not even written to its end: nobody can have begun it
      folder.remove();
      continue;
    }
    Batch& batch = batches_.emplace(number, Batch{folder, {}}).first->second;
    for (Start& start : content->tasks) batch.elements.push_back({.start = std::move(start)});
    for (const std::uint32_t i : folder.look().claimed)
      if (i <= batch.elements.size() && folder.claimed_at(i) == 0)
        batch.elements[i - 1].ended = true;  // withdrawn
    look_at_files(number, batch);
  }
  for (const std::uint32_t number : numbers) drop_if_done(number);
  return {};
}

std::size_t JobDesk::open_elements() const {
  std::size_t open = 0;
  for (const auto& [number, batch] : batches_)
    open += static_cast<std::size_t>(std::count_if(batch.elements.begin(), batch.elements.end(),
                                                   [](const Element& e) { return !e.ended; }));
  return open;
}

bool JobDesk::withdraw(Batch& batch, std::uint32_t index) {
  if (batch.elements[index - 1].begun) return false;
  return !batch.written || batch.folder.claim(index, 0).value_or(false);
}

void JobDesk::end(std::uint32_t number, std::uint32_t index, std::string body) {
  Batch& batch = batches_.at(number);
  Element& element = batch.elements[index - 1];
  element.ended = true;
  if (element.cancelled) {
    // The batch system ended it because we asked for that.
    auto ended = decode_ended(body);
    if (ended && ended->second.cause == static_cast<std::uint8_t>(Cause::lost)) {
      ended->second.cause = static_cast<std::uint8_t>(Cause::cancelled);
      ended->second.detail.clear();
      body = ended_body(ended->second);
    }
  }
  ++batch.unacknowledged;
  report(number, std::move(body));
}

void JobDesk::end_unrun(std::uint32_t number, std::uint32_t index, Cause cause,
                        const std::string& why) {
  const Batch& batch = batches_.at(number);
  const Element& element = batch.elements[index - 1];
  const std::int64_t at = element.begun ? batch.folder.claimed_at(index) : 0;
  end(number, index, unrun_report({element.start.key, at}, cause, why));
}

void JobDesk::look_at_files(std::uint32_t number, Batch& batch) {
  if (batch.is_over()) return;
  const JobFolder::Progress progress = batch.folder.look();
  for (const std::uint32_t i : progress.claimed) {
    if (i > batch.elements.size()) continue;
    Element& element = batch.elements[i - 1];
    if (element.ended || std::exchange(element.begun, true)) continue;
    if (hello_ && gantry_ && !progress.reported.contains(i))
      encode(gantry_.outbox(), Started{element.start.key, batch.folder.claimed_at(i)});
  }
  for (const std::uint32_t i : progress.reported) {
    if (i > batch.elements.size() || batch.elements[i - 1].ended) continue;
    auto body = batch.folder.read_report(i);
    if (!body) continue;  // it is seen before it can be read
    const auto key = peek_ended_key(*body);
    if (key && *key == batch.elements[i - 1].start.key && decode_ended(*body))
      end(number, i, std::move(*body));
    else
      end_unrun(number, i, Cause::lost, "its report is damaged");
  }
}

void JobDesk::drop_if_done(std::uint32_t number) {
  const auto found = batches_.find(number);
  if (found == batches_.end() || number == submitting_) return;
  const Batch& batch = found->second;
  const bool named = std::none_of(unnamed_.begin(), unnamed_.end(),
                                  [&](const auto& each) { return each.first.first == number; });
  if (!batch.is_over() || !named || batch.unacknowledged > 0) return;
  batch.folder.remove();
  batches_.erase(found);
}

void JobDesk::cancel_job(std::uint32_t number, std::uint32_t index) {
  const Batch& batch = batches_.at(number);
  if (batch.job.empty()) {
    unnamed_.try_emplace({number, index}, 0);
    return;
  }
  const char* between = config_.system == BatchSystem::slurm ? "_" : ".";
  cancels_.push_back(batch.job + between + std::to_string(index));
}

void JobDesk::name_job(std::uint32_t number, const std::string& job) {
  batches_.at(number).job = job;
  std::erase_if(unnamed_, [&](const auto& each) {
    const bool now = each.first.first == number;
    if (now) cancel_job(number, each.first.second);
    return now;
  });
}

void JobDesk::forget_unnamed() {
  std::set<std::uint32_t> numbers;
  for (auto& [element, missed] : unnamed_)
    if (++missed >= kMissedIsGone) numbers.insert(element.first);
  for (const std::uint32_t number : numbers) {
    std::erase_if(unnamed_, [&](const auto& each) { return each.first.first == number; });
    drop_if_done(number);
  }
}

void JobDesk::ask_next(Clock::time_point now) {
  asked_at_ = now;
  if (!cancels_.empty()) {
    std::string text = config_.cancel;
    for (const auto& job : std::exchange(cancels_, {})) text += " " + job;
    asked_ = Asked::cancel;
    return command_.start(text, now);
  }
  if (gantry_ && ask_to_submit(now)) return;
  const bool awaits = !unnamed_.empty() || (gantry_ && open_elements() > 0);
  if (now < look_at_ || !awaits) return;
  asked_ = Asked::queue;
  command_.start(config_.queue, now);
}

bool JobDesk::ask_to_submit(Clock::time_point now) {
  if (waiting_.empty() || now < submit_at_ || now < waiting_since_ + kGather) return false;
  const std::size_t open = open_elements();
  if (open >= config_.most) return false;
  const std::size_t room = std::min(kLargestArray, config_.most - open);
  JobFolder::Content content{*hello_, {}};
  const Claim claim = claim_of(waiting_.front());
  for (auto at = waiting_.begin(); at != waiting_.end() && content.tasks.size() < room;) {
    if (claim_of(*at) != claim) {
      ++at;
      continue;
    }
    content.tasks.push_back(std::move(*at));
    at = waiting_.erase(at);
  }
  submitting_ = next_batch_++;
  Batch batch{JobFolder(batch_path(submitting_)), {}};
  const auto written = batch.folder.write(content);
  batch.written = written.has_value();
  asked_ = Asked::submit;
  command_.start(written ? submit_text(submitting_, content.tasks) : "exit 1", now);
  if (!written) tell("no job can be submitted: " + written.error().message);
  for (Start& start : content.tasks) batch.elements.push_back({.start = std::move(start)});
  batches_.emplace(submitting_, std::move(batch));
  return true;
}

std::string JobDesk::submit_text(std::uint32_t batch, const std::vector<Start>& tasks) const {
  const Claim claim = claim_of(tasks.front());
  const std::string cores = std::to_string(claim.cores);
  std::string text = config_.submit;
  replace_all(text, "@BATCH@", std::to_string(batch));
  replace_all(text, "@COUNT@", std::to_string(tasks.size()));
  replace_all(text, "@CORES@", cores);
  replace_all(text, "@NEW@", known_cores_.contains(claim.cores) ? "0" : cores);
  replace_all(text, "@MEMORY@",
              claim.memory == 0 ? "" : "--mem=" + std::to_string((claim.memory >> 20U) + 1) + "M");
  replace_all(text, "@PE@", cores == "1" ? "" : "-pe smp " + cores);
  std::error_code ignored;  // then jobs say that they cannot go there
  replace_all(text, "@SCRATCH@", shell_quoted(fs::current_path(ignored).string()));
  return text;
}

void JobDesk::on_answer(const ShellCommand::Answer& answer, Clock::time_point now) {
  switch (std::exchange(asked_, Asked::nothing)) {
    case Asked::submit:
      return on_submitted(answer, now);
    case Asked::queue:
      return on_queue(answer, now);
    case Asked::cancel:  // what is still there will be seen
    case Asked::nothing:
      return;
  }
}

void JobDesk::on_submitted(const ShellCommand::Answer& answer, Clock::time_point now) {
  const std::uint32_t number = std::exchange(submitting_, 0);
  Batch& batch = batches_.at(number);
  const auto id = answer.code == 0 ? parse_job_id(answer.output) : std::nullopt;
  if (id) {
    name_job(number, *id);
    known_cores_.insert(claim_of(batch.elements.front().start).cores);
    failures_ = 0;
    told_.clear();
    refused_since_.reset();
    rests_ = 0;
    const std::chrono::duration<double> pause(1 / config_.rate);
    submit_at_ = now + std::chrono::duration_cast<Clock::duration>(pause);
    return drop_if_done(number);
  }
  const std::string reason = reason_in(answer.output);
  if (!reason.empty()) tell("no job can be submitted: " + reason);
  const SubmitProblem problem = why_not_taken(answer.output);
  const bool stays = problem == SubmitProblem::unknown && rests_ >= config_.most_rests;
  if (batch.written && (stays || problem == SubmitProblem::hopeless)) {
    refuse(claim_of(batch.elements.front().start), reason);
    return drop_if_done(number);
  }
  submit_at_ = now + wait_after(failures_++);
  if (!refused_since_) refused_since_ = now;
  // Perhaps it was submitted all the same: whoever takes a task back makes sure that no job has it.
  for (auto i = static_cast<std::uint32_t>(batch.elements.size()); i >= 1; --i) {
    Element& element = batch.elements[i - 1];
    if (element.ended || !withdraw(batch, i)) continue;
    element.ended = true;
    waiting_.push_front(std::move(element.start));
  }
  drop_if_done(number);
  if (now - *refused_since_ >= config_.patience) rest(now, reason);
}

void JobDesk::on_queue(const ShellCommand::Answer& answer, Clock::time_point now) {
  if (answer.code != 0) {
    look_at_ = now + wait_after(failures_++);
    return tell("the queue cannot be asked: " + reason_in(answer.output));
  }
  failures_ = 0;
  look_at_ = now + std::max<Clock::duration>(kQueueEvery, (now - asked_at_) * kRestForWork);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  const std::string beginning = config_.name + "-";
  for (const BatchJob& job : parse_jobs(config_.system, answer.output)) {
    if (!job.name.starts_with(beginning)) continue;
    const std::uint32_t number = number_of(std::string_view(job.name).substr(beginning.size()));
    const auto found = batches_.find(number);
    if (found == batches_.end()) continue;
    Batch& batch = found->second;
    name_job(number, job.id);
    if (job.element == 0 || job.element > batch.elements.size()) continue;
    if (job.state == JobState::unfit) on_unfit(batch.elements[job.element - 1], job.reason);
    if (job.state == JobState::stuck && !batch.elements[job.element - 1].ended &&
        withdraw(batch, job.element)) {
      cancel_job(number, job.element);
      end_unrun(number, job.element, Cause::start_failed, "the batch system cannot start its job");
    }
    seen.emplace(number, job.element);
  }
  for (auto& [number, batch] : batches_) {
    look_at_files(number, batch);
    for (std::uint32_t i = 1; i <= batch.elements.size(); ++i) {
      if (batch.elements[i - 1].ended) continue;
      if (seen.contains({number, i}))
        batch.elements[i - 1].missed = 0;
      else if (++batch.elements[i - 1].missed >= kMissedIsGone)
        on_unseen(number, i);
    }
  }
  forget_unnamed();
}

void JobDesk::on_unfit(Element& element, const std::string& reason) {
  // Once may be while the batch system is set up anew.
  if (element.ended || element.begun || ++element.unfit < kMissedIsGone) return;
  const std::string why = "a job as large can never start (" + reason + ")";
  tell(why);
  refuse(claim_of(element.start), why);
}

void JobDesk::on_unseen(std::uint32_t number, std::uint32_t index) {
  Batch& batch = batches_.at(number);
  Element& element = batch.elements[index - 1];
  if (element.begun) return end_unrun(number, index, Cause::lost, "its job ended without a word");
  const auto withdrawn = batch.folder.claim(index, 0);
  if (!withdrawn) {  // neither could its job have done that
    tell("a job is gone, and so is its folder: " + withdrawn.error().message);
    return end_unrun(number, index, Cause::lost, withdrawn.error().message);
  }
  if (!*withdrawn) {
    element.missed = 0;  // it has begun just now
    return;
  }
  if (element.told || element.cancelled)
    return end_unrun(number, index, Cause::lost, "its job was cancelled before it began");
  element.ended = true;
  give_back(element.start.key);
}

}  // namespace gantry::agent
