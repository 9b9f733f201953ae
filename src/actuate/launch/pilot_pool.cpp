#include "actuate/launch/pilot_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// A controller that is slow to answer is asked less often.
constexpr int kRestForWork = 10;
constexpr auto kLongestRetry = 120s;
constexpr std::uint32_t kMostFailures = 5;
/// In half an hour. What nobody understands may pass, but not for ever.
constexpr std::uint32_t kMostRefusals = 20;
/// A host that is free for so long while something waits was not forgotten: it is of no use.
constexpr auto kShunned = 10s;
constexpr auto kAfterVain = 60s;
/// Once may be while the batch system is set up anew.
constexpr std::uint32_t kUnfitForEver = 3;
/// What was just submitted may not be in the list yet.
constexpr std::uint32_t kMissedIsGone = 2;

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

void PilotPool::poll(Clock::time_point now, std::vector<LauncherEvent>& events) {
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
  pilot.up = true;
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
    surplus_.push_back(pilot.job);
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
  BatchRequest request = site_.batch->request;
  request.slots = slots_of(index);
  shell_.ask(submit_command(site_.batch->system, request, pilots_[index].job_name, script,
                            "end-of-" + names_.front()));
}

void PilotPool::on_answer(const RemoteShell::Answer& answer, Clock::time_point now,
                          std::vector<LauncherEvent>& events) {
  switch (std::exchange(asked_, Asked::nothing)) {
    case Asked::queue:
      return on_queue(answer, now, events);
    case Asked::submit:
      return on_submitted(answer, now, events);
    case Asked::cancel:
      surplus_.clear();  // what is still there will be seen
      return;
    case Asked::nothing:
      return;
  }
}

void PilotPool::on_queue(const RemoteShell::Answer& answer, Clock::time_point now,
                         std::vector<LauncherEvent>& events) {
  looked_ = true;
  if (!answer.came || answer.code != 0) {
    look_at_ = now + wait_after(silences_++);
    const std::string reason = reason_in(answer.output);
    return tell(answer.came ? "its queue cannot be asked: " + reason : reason, events);
  }
  silences_ = 0;
  told_.clear();
  look_at_ =
      now + std::max<Clock::duration>(patience_.look_every, (now - asked_at_) * kRestForWork);
  const auto jobs = parse_queue(site_.batch->system, answer.output, names_);
  for (Pilot& pilot : pilots_) {
    const BatchJob* best = nullptr;
    for (const BatchJob& job : jobs) {
      if (job.name != pilot.job_name) continue;
      // Two of one name: gantry was killed while it submitted. The one that is further is kept.
      const bool better =
          best == nullptr || (job.state == JobState::running && best->state != JobState::running);
      const BatchJob* other = better ? std::exchange(best, &job) : &job;
      if (other != nullptr && other->state != JobState::ending) surplus_.push_back(other->id);
    }
    if (best != nullptr)
      on_job(pilot, *best, events);
    else
      on_missing(pilot, now, events);
  }
}

void PilotPool::on_job(Pilot& pilot, const BatchJob& job, std::vector<LauncherEvent>& events) {
  pilot.job = job.id;
  pilot.missed = 0;
  if (pilot.state == State::given_up) return;
  if (job.id == pilot.given_back) {
    // It takes its time, or was not heard to be cancelled.
    if (job.state != JobState::ending) surplus_.push_back(job.id);
    return;
  }
  pilot.given_back.clear();
  switch (job.state) {
    case JobState::queued:
      pilot.state = State::queued;
      pilot.unfit = 0;
      break;
    case JobState::unfit:
      pilot.state = State::queued;
      on_unfit(pilot, job, events);
      break;
    case JobState::running:
      pilot.state = State::running;
      break;
    case JobState::ending:
      pilot.state = State::ending;
      break;
    case JobState::stuck:
      surplus_.push_back(job.id);
      give_up(pilot, fmt::format("job {} is in an error state and was cancelled", job.id), events);
      break;
  }
}

void PilotPool::on_unfit(Pilot& pilot, const BatchJob& job, std::vector<LauncherEvent>& events) {
  if (++pilot.unfit < kUnfitForEver) return;
  surplus_.push_back(job.id);
  give_up(
      pilot,
      fmt::format("job {} can never start ({}) and was cancelled: correct 'slots' and what else "
                  "its site in the grid file asks for",
                  job.id, job.reason),
      events);
}

void PilotPool::give_up(Pilot& pilot, const std::string& why, std::vector<LauncherEvent>& events) {
  pilot.state = State::given_up;
  tell(why, events);
}

void PilotPool::on_missing(Pilot& pilot, Clock::time_point now,
                           std::vector<LauncherEvent>& events) {
  if (pilot.state == State::unknown) pilot.state = State::absent;
  if (pilot.state == State::absent || pilot.state == State::given_up) return;
  if (++pilot.missed < kMissedIsGone && pilot.state == State::queued) return;
  pilot.state = State::absent;
  if (!std::exchange(pilot.given_back, {}).empty()) return;
  if (++pilot.failures >= kMostFailures)
    return give_up(pilot,
                   fmt::format("its jobs end before they can be used, the last was {}; see "
                               "{}/job.log",
                               pilot.job, folder_of(pilot)),
                   events);
  pilot.submit_at = now + wait_after(pilot.failures);
}

void PilotPool::on_submitted(const RemoteShell::Answer& answer, Clock::time_point now,
                             std::vector<LauncherEvent>& events) {
  Pilot& pilot = pilots_[submitting_];
  if (!answer.came) {
    // It may have been submitted: only the queue knows.
    pilot.state = State::unknown;
    look_at_ = now + wait_after(silences_++);
    return tell(reason_in(answer.output), events);
  }
  const auto id = answer.code == 0 ? parse_job_id(answer.output) : std::nullopt;
  if (id) {
    pilot.job = *id;
    pilot.used = false;
    pilot.refused = pilot.unfit = 0;
    pilot.state = State::queued;
    pilot.missed = 0;
    look_at_ = std::min(look_at_, now + patience_.look_every / 4);
    if (releasing_) surplus_.push_back(*id);  // it was on its way when nobody needed it any more
    return;
  }
  const std::string reason = reason_in(answer.output);
  const SubmitProblem problem = why_not_taken(answer.output);
  const bool stays = problem == SubmitProblem::unknown && pilot.refused >= kMostRefusals;
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

void PilotPool::tell(const std::string& text, std::vector<LauncherEvent>& events) {
  if (told_ == text) return;
  told_ = text;
  events.emplace_back(
      LauncherNotice{fmt::format("{} ({}): {}", site_.name, login_name(*site_.batch), text)});
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
    if (pilot.state == State::queued || (pilot.state == State::running && idle[i]))
      surplus_.push_back(pilot.job);
  }
}

}  // namespace gantry
