// What a run tells its bookkeeper, and asks it.
#include <algorithm>

#include "engine/run/run.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

void Run::score(const AttemptEnded& event, Duration expected) {
  const HostState* state = grid.find(event.host);
  const auto site = state != nullptr ? std::optional(state->host.site) : std::nullopt;
  book.score(event.report, expected, site);
  if (site && event.besides) book.launched(*site, *event.besides, event.report.ended);
}

forecast::Bookkeeper::Ended Run::ended(const AttemptReport& report, HostId host) const {
  const TaskId task = report.key.task;
  // A task that goes on with its other attempt is not tried again. One that is given up now starts
  // over right after this.
  const bool goes_on = attempts.has(task) || tasks[task].state == TaskState::done;
  return {.report = report,
          .host = host,
          .is_replayed = replaying,
          .is_tried_again = !goes_on && !is_crowded(report.cause, report.code),
          .learns_memory = learns_memory_of(task),
          .slots = replaying ? 0 : slots_in_all()};
}

void Run::observe(const forecast::Bookkeeper::Ended& attempt) {
  if (book.observe(attempt)) use_new_costs();
}

void Run::observe(const AttemptEnded& event, const Outstanding& attempt) {
  const AttemptReport& report = event.report;
  forecast::Bookkeeper::Ended seen = ended(report, event.host);
  seen.begun = attempt.begun;
  if (report.cause == FailureCause::out_of_memory && seen.learns_memory) {
    // Whatever its host says of its limit: it shall not be tried with the same for ever.
    const std::uint64_t given = std::max(attempt.memory.bytes, report.memory_limit);
    book.died_of_memory(seen, given > 0 ? given : resources_of(report.key.task).memory);
  }
  observe(seen);
  if (report.cause == FailureCause::none && event.output_bytes)
    book.made(report.key.task, *event.output_bytes);
}

void Run::look_back(TimePoint now) {
  const Counts& mine = tasks.selected();
  const std::uint32_t ended = mine.done + mine.failed + mine.cancelled;
  book.pass(now, ended);
  if (book.is_look_due(ended, mine.total) && !finished()) book.look_back(open_run(), now);
}

Eta Run::eta(TimePoint now) const {
  return book.knows_times() && !finished() ? book.eta(open_run(), now) : Eta{};
}

forecast::OpenRun Run::open_run() const {
  const Counts& mine = tasks.selected();
  forecast::OpenRun open{.total = mine.total,
                         .ended = mine.done + mine.failed + mine.cancelled,
                         .next_index = cursor,
                         .share = entitled,
                         .planned_blindly = planned_blindly,
                         .moves_waiting = appetite.takes_over};
  if (draining.empty()) {
    open.to_start = mine.pending + mine.waiting;
    open.cost_to_start = cost_to_start();
    open.planned_end = planned_end;
    open.last_retry = retries.last();
  }
  for (std::size_t i = 0; i < grid.shown.size(); ++i) {
    const auto& [host, load, ongoing] = grid.shown[i];
    const std::uint32_t slots = i < grid.working_hosts ? schedule::slots(*host, typical) : 0;
    open.hosts.push_back({host->id, host->speed, slots});
    for (const schedule::Ongoing& given : ongoing)
      if (counts_once(given)) open.attempts.push_back({i, given.cost, given.started, given.begun});
  }
  if (grid.working_hosts > 0) return open;
  for (const auto& [id, job] : grid.coming)
    open.coming.push_back(
        {id, job.host.site, job.host.speed, schedule::slots(job.host, typical), job.since});
  return open;
}

bool Run::counts_once(const schedule::Ongoing& given) const {
  if (given.run != run_id) return false;
  if (given.attempt == AttemptId{}) return !attempts.has(given.task);  // its files travel
  if (attempts.all_first()) return true;
  const Outstanding* first = attempts.first(given.task);
  return first != nullptr && first->attempt == given.attempt;
}

double Run::cost_to_start() const {
  const Counts& mine = tasks.selected();
  double cost = 0;
  std::uint64_t others = mine.pending + mine.waiting;
  if (appetite.by_cost) {
    for (const schedule::ReadyClass& each : ready.view()) {
      cost += forecast::usable_cost(each.needs->cost) * static_cast<double>(each.places->size());
      others -= std::min<std::uint64_t>(others, each.places->size());
    }
    return cost + static_cast<double>(others) * book.times().mean_cost_from(cursor);
  }
  // Those in the window, just before the cursor, are yet to start.
  const auto first =
      cursor - static_cast<std::uint32_t>(std::min<std::size_t>(cursor, ready.placeable()));
  return static_cast<double>(others) * book.times().mean_cost_from(first);
}

std::uint64_t Run::slots_in_all() const {
  std::uint64_t sum = 0;
  for (const auto& load : grid.working()) sum += schedule::slots(*load.host, typical);
  return sum;
}

}  // namespace gantry::engine
