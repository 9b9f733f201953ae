#include "actuate/launch/batch/pilot_pool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace gantry {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestRetry = 120s;
/// In half an hour. What nobody understands may pass, but not for ever.
constexpr std::uint32_t kMostFailedSubmissions = 20;
/// A host that is free for so long while something waits was not forgotten: it is of no use.
constexpr auto kShunned = 10s;
constexpr auto kAfterVain = 60s;
/// What was cancelled is in old answers yet: not each of them is a reason to cancel it again.
constexpr int kLooksToHear = 10;
std::string said_nothing(std::string_view program, int code) {
  return fmt::format("{} printed nothing (exit code {})", program, code);
}

}  // namespace

PilotPool::PilotPool(const RemoteSite& site, const AgentBinary& binary, Patience patience)
    : site_(site),
      binary_(binary),
      patience_(patience),
      shell_(site.target(site.hosts.front()), binary) {
  for (const RemoteHost& host : site.hosts) {
    names_.push_back(fmt::format("gantry-{}-{}", site.holder, host.name));
    pilots_.push_back({names_.back()});
  }
}

PilotPool::Clock::duration PilotPool::wait_after(std::uint32_t failures) const {
  return std::min<Clock::duration>(kLongestRetry,
                                   patience_.first_retry * (1 << std::min(failures, 8U)));
}

void PilotPool::poll(Clock::time_point now, std::vector<News>& events) {
  tell_waits(now, events);
  if (asked_ == Asked::nothing) ask_next(now);
  if (asked_ == Asked::nothing) return;
  if (const auto answer = shell_.poll(now)) on_answer(*answer, now, events);
}

void PilotPool::ask_next(Clock::time_point now) {
  asked_at_ = now;
  if (!releasing_) give_back_spare(now);
  if (!surplus_.empty()) {
    asked_ = Asked::cancel;
    return shell_.ask(cancel_command(site_.batch->system, surplus_));
  }
  if (releasing_) return;
  if (now >= look_at_) {
    asked_ = Asked::queue;
    return shell_.ask(queue_command(site_.batch->system, names_));
  }
  if (now < submit_after_ || !is_another_needed(wanted_, uses(now))) return;
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    if (pilots_[i].state == State::absent && now >= pilots_[i].submit_at) return ask_to_submit(i);
  }
}

void PilotPool::on_use(std::size_t index, std::uint32_t free, Clock::time_point now) {
  Pilot& pilot = pilots_[index];
  pilot.failures = 0;
  pilot.up = pilot.seen = pilot.answered = true;
  pilot.free = free;
  if (free == slots_of(index)) {
    if (!pilot.free_since) pilot.free_since = now;
    return;
  }
  pilot.free_since.reset();
  pilot.used = true;
  in_vain_ = 0;
}

std::vector<PilotUse> PilotPool::uses(Clock::time_point now) const {
  std::vector<PilotUse> uses;
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    const Pilot& pilot = pilots_[i];
    PilotUse use{.slots = slots_of(i)};
    const bool comes = pilot.state == State::unknown || pilot.state == State::queued;
    if (pilot.state == State::running && pilot.up) {
      use.stage = PilotUse::Stage::up;
      use.free = pilot.free;
      use.shunned = wanted_ > 0 && pilot.free_since && now - *pilot.free_since >= kShunned;
    } else if (comes || pilot.state == State::running) {
      use.stage = PilotUse::Stage::coming;
    }
    uses.push_back(use);
  }
  return uses;
}

void PilotPool::give_back_spare(Clock::time_point now) {
  auto uses = this->uses(now);
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    Pilot& pilot = pilots_[i];
    const bool known = pilot.state == State::queued || (pilot.state == State::running && pilot.up);
    if (!known || !is_superfluous(wanted_, uses, i)) {
      pilot.spare_since.reset();
      continue;
    }
    if (!pilot.spare_since) pilot.spare_since = now;
    if (now - *pilot.spare_since < site_.batch->idle) continue;
    drop(pilot.job, now);
    // What waits can perhaps not run here at all: others in the queue shall not suffer for it.
    const bool in_vain = wanted_ > 0 && pilot.state == State::running && !pilot.used;
    if (in_vain) submit_after_ = now + kAfterVain * (1 << std::min(in_vain_++, 5U));
    pilot.given_back = pilot.job;
    pilot.state = State::ending;
    pilot.spare_since.reset();
    uses[i].stage = PilotUse::Stage::absent;  // the others may be needed now
  }
}

std::uint32_t PilotPool::slots_of(std::size_t index) const {
  return std::max(1U, site_.hosts[index].slots);
}

void PilotPool::ask_to_submit(std::size_t index) {
  const std::string script = pilot_script({shell_.scratch(), "bin/" + binary_.image.name,
                                           host_folder(site_, site_.hosts[index].name),
                                           time_for_tasks(site_.batch->request.walltime)});
  asked_ = Asked::submit;
  submitting_ = index;
  pilots_[index].submitted = true;
  BatchRequest request = site_.batch->request;
  request.slots = slots_of(index);
  shell_.ask(submit_command(site_.batch->system, request, pilots_[index].job_name, script,
                            "end-of-" + names_.front()));
}

void PilotPool::on_answer(const RemoteShell::Answer& answer, Clock::time_point now,
                          std::vector<News>& events) {
  switch (std::exchange(asked_, Asked::nothing)) {
    case Asked::queue:
      return on_queue(answer, now, events);
    case Asked::submit:
      return on_submitted(answer, now, events);
    case Asked::cancel:
      return on_cancelled(answer, events);
    case Asked::nothing:
      return;
  }
}

void PilotPool::on_submitted(const RemoteShell::Answer& answer, Clock::time_point now,
                             std::vector<News>& events) {
  Pilot& pilot = pilots_[submitting_];
  if (!answer.came) {
    // It may have been submitted: only the queue knows.
    pilot.state = State::unknown;
    pilot.job.clear();
    pilot.missed = 0;
    pilot.missing_since = now;
    look_at_ = now + wait_after(silences_++);
    return tell(reason_in(answer.output), events);
  }
  const auto id = answer.code == 0 ? parse_job_id(answer.output) : std::nullopt;
  if (id) {
    pilot.job = *id;
    // Else it is the agent of the job before that answers.
    if (!pilot.up) pilot.submitted_at = asked_at_;
    pilot.used = pilot.seen = pilot.answered = false;
    pilot.refused = pilot.unfit = 0;
    pilot.state = State::queued;
    pilot.missed = 0;
    pilot.missing_since = now;
    look_at_ = std::min(look_at_, now + patience_.look_every / 4);
    if (releasing_) drop(*id, now);  // it was on its way when nobody needed it any more
    return;
  }
  if (releasing_) return;  // nobody needs it any more
  std::string reason = reason_in(answer.output);
  if (reason.empty())
    reason =
        said_nothing(site_.batch->system == BatchSystem::slurm ? "sbatch" : "qsub", answer.code);
  const SubmitProblem problem = why_not_taken(answer.output);
  const bool stays = problem == SubmitProblem::unknown && pilot.refused >= kMostFailedSubmissions;
  const bool hopeless = stays || problem == SubmitProblem::hopeless;
  tell(fmt::format("no job can be submitted: {}{}", reason,
                   hopeless ? "; it is left out: correct its site in the grid file" : ""),
       events);
  if (!hopeless) {
    pilot.submit_at = now + wait_after(pilot.refused++);
    return;
  }
  if (stays) {  // others of its kind may be taken
    pilot.state = State::given_up;
    return;
  }
  for (Pilot& each : pilots_)
    if (each.state == State::absent) each.state = State::given_up;
}

void PilotPool::on_cancelled(const RemoteShell::Answer& answer, std::vector<News>& events) {
  if (releasing_ && !answer.came) tell_not_cancelled(reason_in(answer.output), events);
  if (releasing_ && answer.came && answer.code != 0) {
    const bool is_mute = reason_in(answer.output).empty();
    const std::string why =
        is_mute ? said_nothing(cancel_program(), answer.code) : why_not_cancelled(answer.output);
    if (!why.empty()) tell_not_cancelled(why, events);
  }
  surplus_.clear();  // before the end, what is still there will be seen
}

void PilotPool::tell_not_cancelled(const std::string& why, std::vector<News>& events) {
  const std::string ids = fmt::format("{}", fmt::join(surplus_, " "));
  tell(fmt::format("jobs may be left in its queue: {}; cancel them there: {} {}", why,
                   cancel_program(), ids),
       events);
}

void PilotPool::close(std::vector<News>& events) {
  for (std::size_t i = 0; i < pilots_.size() && releasing_; ++i) {
    const bool is_on_its_way = asked_ == Asked::submit && submitting_ == i;
    const bool is_unknown = pilots_[i].state == State::unknown && pilots_[i].submitted;
    if (!is_on_its_way && !is_unknown) continue;
    const bool is_slurm = site_.batch->system == BatchSystem::slurm;
    tell(
        fmt::format("nobody knows whether its job {0} was submitted; if it is in the queue, cancel "
                    "it there: {1} {2}{0}",
                    pilots_[i].job_name, cancel_program(), is_slurm ? "--name=" : ""),
        events);
  }
  if (releasing_ && !surplus_.empty()) tell_not_cancelled("it does not answer in time", events);
  surplus_.clear();
  asked_ = Asked::nothing;
  shell_.close();
}

std::string_view PilotPool::cancel_program() const {
  return site_.batch->system == BatchSystem::slurm ? "scancel" : "qdel";
}

void PilotPool::drop(const std::string& job, Clock::time_point now) {
  if (job.empty()) return;
  const auto [at, is_new] = dropped_.try_emplace(job, now);
  if (!is_new && now - at->second < patience_.look_every * kLooksToHear) return;
  at->second = now;
  surplus_.push_back(job);
}

void PilotPool::tell(const std::string& text, std::vector<News>& events) {
  if (told_ == text) return;
  told_ = text;
  events.emplace_back(
      Notice{fmt::format("{} ({}): {}", site_.name, login_name(*site_.batch), text)});
}

std::string PilotPool::folder_of(const Pilot& pilot) const {
  const auto index = static_cast<std::size_t>(&pilot - pilots_.data());
  return fmt::format("{}:{}/{}/agent", login_name(*site_.batch), shell_.scratch(),
                     host_folder(site_, site_.hosts[index].name));
}

void PilotPool::release(const std::vector<bool>& idle) {
  releasing_ = true;
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    const Pilot& pilot = pilots_[i];
    const bool waits = pilot.state == State::queued || pilot.state == State::suspended;
    if (waits || (pilot.state == State::running && idle[i])) surplus_.push_back(pilot.job);
  }
}

}  // namespace gantry
