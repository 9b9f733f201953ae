#include "engine/engine.hpp"

#include <algorithm>
#include <variant>

#include "engine/engine_impl.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {

namespace {

forecast::CostProfile profile_of(const Workload& workload) {
  if (!workload.cost) return {workload.count, {}};
  return {workload.count, [&](std::uint32_t index) { return workload.cost(TaskId(index + 1)); }};
}

/// Where a person says what tasks cost, that counts.
forecast::LearnedCosts learned_of(const Workload& workload) {
  if (workload.cost) return {workload.count, {}, {}};
  return {workload.count, workload.features, workload.known_times};
}

forecast::LearnedMemory memory_of(const Workload& workload) {
  if (!workload.learns_memory || workload.count == 0) return {};
  const auto& known = workload.known_memory;
  return known.knows(workload.features(TaskId(1))) ? known : forecast::LearnedMemory{};
}

forecast::LearnedOutputs outputs_of(const Workload& workload) {
  const bool learns = workload.features && !workload.output_bytes && workload.count > 0;
  if (!learns || !workload.known_outputs.takes(workload.features(TaskId(1)).size())) return {};
  return forecast::LearnedOutputs(workload.known_outputs);
}

}  // namespace

Engine::Impl::Impl(Workload work, Policy rules, std::unique_ptr<schedule::Scheduler> scheduler,
                   SiteMap sites)
    : workload(std::move(work)),
      policy(rules),
      map(std::move(sites)),
      strategy(std::move(scheduler)),
      appetite(strategy->appetite()),
      tasks(workload.count),
      ready([this](const TaskNeeds& needs) { return fits_somewhere(needs); }),
      files(workload.file_bytes, map),
      costs(profile_of(workload)),
      learned(learned_of(workload)),
      learned_memory(memory_of(workload)),
      learned_outputs(outputs_of(workload)) {
  if (workload.count > 0) typical = workload.resources_of(TaskId(1));
  if (learned.known()) use_new_costs();
}

Engine::Engine(Workload workload, Policy policy)
    : Engine(std::move(workload), policy,
             schedule::make_scheduler(schedule::kDefaultStrategy).value()) {}
Engine::Engine(Workload workload, Policy policy, std::unique_ptr<schedule::Scheduler> strategy,
               SiteMap map)
    : impl_(std::make_unique<Impl>(std::move(workload), policy, std::move(strategy),
                                   std::move(map))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::apply(const Event& event) {
  std::visit([this](const auto& e) { impl_->on(e); }, event);
  impl_->strategy->observe(event);
}

void Engine::resume() {
  for (std::uint32_t i = 1; i <= impl_->tasks.size(); ++i) {
    const TaskId task(i);
    const TaskState state = impl_->tasks[task].state;
    impl_->renew(task);
    if (state == TaskState::failed || state == TaskState::cancelled) impl_->make_pending(task);
  }
  impl_->end_replay();
}

void Engine::resume_only(const std::vector<TaskId>& tasks) {
  for (std::uint32_t i = 1; i <= impl_->tasks.size(); ++i) {
    impl_->renew(TaskId(i));
    impl_->tasks.select(TaskId(i), false);
  }
  for (const TaskId task : tasks) {
    if (!impl_->tasks.contains(task)) continue;
    impl_->tasks.select(task, true);
    if (!impl_->outstanding.contains(task)) impl_->make_pending(task);
  }
  impl_->end_replay();
}

std::vector<Action> Engine::decide(TimePoint now) {
  return impl_->decide(now);
}

void Engine::pass_over_numbers(bool passes) {
  impl_->passes_over = passes;
}

void Engine::name_run(RunId run) {
  impl_->id = run;
}

TimePoint Engine::next_wakeup() const {
  return impl_->next_wakeup();
}

TaskState Engine::state(TaskId task) const {
  return impl_->tasks[task].state;
}
bool Engine::awaits(const TaskKey& key, HostId host) const {
  return impl_->awaits(key, host);
}
const Counts& Engine::counts() const {
  return impl_->tasks.all();
}
std::uint64_t Engine::waiting_cores() const {
  if (!impl_->draining.empty()) return 0;
  return std::uint64_t{impl_->tasks.selected().pending} * std::max(impl_->typical.cores, 1U);
}
bool Engine::uses(SiteId site) const {
  const auto is_there = [&](const auto& entry) {
    const auto host = impl_->hosts.find(entry.second.host);
    return host != impl_->hosts.end() && host->second.host.site == site;
  };
  return std::ranges::any_of(impl_->outstanding, is_there) ||
         std::ranges::any_of(impl_->twins, is_there) ||
         std::ranges::any_of(impl_->leftovers, is_there) ||
         std::ranges::any_of(impl_->staged, is_there) ||
         std::ranges::any_of(impl_->missing, [&](const auto& entry) {
           return entry.second == site && impl_->tasks[entry.first.first].state != TaskState::done;
         });
}

bool Engine::finished() const {
  return impl_->finished();
}
const std::string& Engine::draining() const {
  return impl_->draining;
}
Eta Engine::eta(TimePoint now) const {
  return impl_->eta(now);
}
std::optional<Duration> Engine::expected(TaskId task, HostId host) const {
  return impl_->expected(task, host);
}
Duration Engine::expected(const TaskKey& key) const {
  const Outstanding* attempt = impl_->find({key.task, key.attempt});
  return attempt == nullptr ? Duration{0} : attempt->expected;
}
std::span<const schedule::HostLoad> Engine::hosts() const {
  return impl_->shown;
}
std::span<const schedule::SiteFiles> Engine::site_files(TimePoint now) {
  return impl_->files.view(now);
}
const forecast::RunTimeAccuracy& Engine::accuracy() const {
  return impl_->accuracy;
}
const forecast::GridForecast& Engine::seen() const {
  return impl_->seen;
}
const forecast::LearnedCosts& Engine::learned() const {
  return impl_->learned;
}
const forecast::LearnedMemory& Engine::learned_memory() const {
  return impl_->learned_memory;
}
const forecast::LearnedOutputs& Engine::learned_outputs() const {
  return impl_->learned_outputs;
}
std::vector<std::pair<TaskId, TimePoint>> Engine::retries(std::size_t most) const {
  return impl_->retries.first(most);
}
Resources Engine::resources(TaskId task) const {
  return impl_->resources_of(task);
}
std::vector<FileId> Engine::files(TaskId task) const {
  return impl_->workload.files_of(task);
}

}  // namespace gantry::engine
