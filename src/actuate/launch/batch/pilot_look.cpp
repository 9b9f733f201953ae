// What the queue of a batch system says of the pool's jobs, and what that means. Answers may be old
// (many sites answer from a cache), or empty for once: a job is not gone because one lacks it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actuate/launch/batch/pilot_pool.hpp"

namespace gantry {

namespace {

/// A controller that is slow to answer is asked less often.
constexpr int kRestForWork = 10;
constexpr std::uint32_t kMostPilotFailures = 5;
/// Once may be while the batch system is set up anew.
constexpr std::uint32_t kUnfitForEver = 3;
constexpr std::uint32_t kMissedIsGone = 3;
/// When its agent is lost, too, a job is missed for this part of the time.
constexpr int kWithoutAgent = 6;

/// Of two jobs the one that is further is kept.
int rank_of(JobState state) {
  switch (state) {
    case JobState::running:
      return 3;
    case JobState::suspended:
      return 2;
    case JobState::queued:
    case JobState::unfit:
    case JobState::stuck:
      return 1;
    case JobState::ending:
    case JobState::ended:
      break;
  }
  return 0;
}

}  // namespace

void PilotPool::on_queue(const RemoteShell::Answer& answer, Clock::time_point now,
                         std::vector<News>& events) {
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
  const bool whole = !jobs.empty() || is_whole(site_.batch->system, answer.output);
  for (Pilot& pilot : pilots_) {
    if (const BatchJob* job = find_job(pilot, jobs, now))
      on_job(pilot, *job, now, events);
    else
      on_missing(pilot, whole, now, events);
  }
}

const BatchJob* PilotPool::find_job(const Pilot& pilot, const std::vector<BatchJob>& jobs,
                                    Clock::time_point now) {
  const bool has_job = pilot.state == State::queued || pilot.state == State::running ||
                       pilot.state == State::suspended;
  const BatchJob* best = nullptr;
  for (const BatchJob& job : jobs) {
    if (job.name != pilot.job_name) continue;
    const bool is_its = job.id == pilot.job;
    const bool is_live = rank_of(job.state) > 0;
    // What it was before is no news of what it is now.
    if (!is_its && (job.state == JobState::ended || (has_job && !is_live))) continue;
    if (dropped_.contains(job.id) && job.id != pilot.given_back) {
      if (is_live) drop(job.id, now);  // it takes its time, or was not heard to be cancelled
      continue;
    }
    // Two of one name: gantry was killed while it submitted.
    const bool better = best == nullptr || rank_of(job.state) > rank_of(best->state) ||
                        (is_its && rank_of(job.state) == rank_of(best->state));
    const BatchJob* other = better ? std::exchange(best, &job) : &job;
    if (other != nullptr && rank_of(other->state) > 0) drop(other->id, now);
  }
  return best;
}

void PilotPool::on_job(Pilot& pilot, const BatchJob& job, Clock::time_point now,
                       std::vector<News>& events) {
  if (job.id == pilot.given_back) {
    if (job.state == JobState::ended) return on_gone(pilot, now, events);
    if (job.state != JobState::ending) drop(job.id, now);
    return;
  }
  if (pilot.state == State::given_up) {
    if (rank_of(job.state) > 0) drop(job.id, now);
    return;
  }
  const bool is_live = rank_of(job.state) > 0;
  if (job.id != pilot.job) {
    const bool had_job = pilot.state == State::queued || pilot.state == State::suspended ||
                         (pilot.state == State::running && !pilot.up);
    if (had_job) drop(pilot.job, now);  // that one is not even listed
    pilot.job = job.id;
    pilot.submitted_at.reset();
  }
  pilot.missed = 0;
  pilot.missing_since.reset();
  pilot.seen = true;
  if (is_live) pilot.given_back.clear();
  if (job.state != JobState::unfit) pilot.unfit = 0;
  switch (job.state) {
    case JobState::queued:
      pilot.state = State::queued;
      break;
    case JobState::unfit:
      pilot.state = State::queued;
      on_unfit(pilot, job, now, events);
      break;
    case JobState::running:
      pilot.state = State::running;
      break;
    case JobState::suspended:
      pilot.submitted_at.reset();
      if (std::exchange(pilot.state, State::suspended) == State::suspended) break;
      tell(fmt::format("job {} is suspended by the cluster; what runs in it goes on when it does",
                       job.id),
           events);
      break;
    case JobState::ending:
      pilot.state = State::ending;
      break;
    case JobState::ended:
      if (pilot.state != State::absent) on_gone(pilot, now, events);
      break;
    case JobState::stuck:
      drop(job.id, now);
      give_up(pilot, fmt::format("job {} is in an error state and was cancelled", job.id), events);
      break;
  }
}

void PilotPool::on_unfit(Pilot& pilot, const BatchJob& job, Clock::time_point now,
                         std::vector<News>& events) {
  if (++pilot.unfit < kUnfitForEver) return;
  drop(job.id, now);
  give_up(
      pilot,
      fmt::format("job {} can never start ({}) and was cancelled: correct 'slots' and what else "
                  "its site in the grid file asks for",
                  job.id, job.reason),
      events);
}

void PilotPool::give_up(Pilot& pilot, const std::string& why, std::vector<News>& events) {
  pilot.state = State::given_up;
  tell(why, events);
}

void PilotPool::on_missing(Pilot& pilot, bool whole, Clock::time_point now,
                           std::vector<News>& events) {
  if (pilot.state == State::absent || pilot.state == State::given_up) return;
  if (pilot.up) {  // whatever the batch system says
    pilot.missed = 0;
    pilot.missing_since.reset();
    return;
  }
  if (!pilot.missing_since) pilot.missing_since = now;
  if (whole) ++pilot.missed;
  if (!is_gone(pilot, whole, now)) return;
  if (pilot.state == State::unknown) {
    pilot.state = State::absent;
    return;
  }
  // It may be there, whatever is said of it.
  if (pilot.state != State::ending) drop(pilot.job, now);
  on_gone(pilot, now, events);
}

bool PilotPool::is_gone(const Pilot& pilot, bool whole, Clock::time_point now) const {
  const auto missing = now - *pilot.missing_since;
  if (missing >= patience_.unseen) return true;
  if (pilot.state == State::unknown && !pilot.submitted)  // of an earlier gantry, if at all
    return whole || missing >= patience_.look_every * kMissedIsGone;
  if (!whole) return false;
  if (pilot.state == State::ending) return true;
  if (pilot.state == State::unknown) return missing >= patience_.missing;
  const bool is_alone = pilot.answered && !pilot.up;
  return pilot.seen && pilot.missed >= kMissedIsGone &&
         missing >= patience_.missing / (is_alone ? kWithoutAgent : 1);
}

void PilotPool::tell_waits(Clock::time_point now, std::vector<News>& events) {
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    Pilot& pilot = pilots_[i];
    if (pilot.answered && pilot.submitted_at && pilot.state == State::running)
      events.emplace_back(QueueWaited{
          .site = site_.id, .seconds = seconds(now - *std::exchange(pilot.submitted_at, {}))});
    const bool comes = pilot.state == State::queued || pilot.state == State::running;
    const bool awaited = comes && !pilot.answered && !releasing_;
    if (std::exchange(pilot.told_awaited, awaited) == awaited) continue;
    const RemoteHost& host = site_.hosts[i];
    events.emplace_back(
        HostQueued{{host.id, host.name, slots_of(i), host.memory, site_.id, host.speed},
                   awaited ? RealClock{}.now() : kNever});
  }
}

void PilotPool::on_gone(Pilot& pilot, Clock::time_point now, std::vector<News>& events) {
  pilot.state = State::absent;
  pilot.submitted_at.reset();
  pilot.missing_since.reset();
  if (!std::exchange(pilot.given_back, {}).empty()) return;
  if (++pilot.failures >= kMostPilotFailures)
    return give_up(pilot,
                   fmt::format("its jobs end before they can be used, the last was {}; see "
                               "{}/job.log",
                               pilot.job, folder_of(pilot)),
                   events);
  pilot.submit_at = now + wait_after(pilot.failures);
}

}  // namespace gantry
