// How long decide() takes while many tasks are pending: the first call, and the calls after single
// events. A run of tasks in 100 classes on 100 hosts at ten sites; each class reads a shared file
// of its own and, where asked, each task a private one. Times are of the CPU.
//
//   engine_bench [PENDING...]     10000 100000 1000000 by default

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <queue>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "model/sweep_definition.hpp"
#include "model/sweep_files.hpp"
#include "schedule/registry.hpp"

namespace gantry {
namespace {

constexpr std::uint32_t kClasses = 100;
constexpr std::uint32_t kHosts = 100;
constexpr std::uint32_t kSites = 10;
constexpr int kEvents = 2000;
constexpr RunId kRun{1};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class Work>
double timed(const Work& work) {
  const double begin = cpu_seconds();
  work();
  return cpu_seconds() - begin;
}

Application study(std::uint32_t tasks, bool own) {
  SweepDefinition definition;
  definition.base_dir = "/nowhere";
  definition.command = {{.text = "simulate", .mark = {}}, {.text = "{seed}", .mark = {}}};
  const auto seeds = ParameterValues::range(fmt::format("1..{}", tasks / kClasses));
  const auto meshes = ParameterValues::range(fmt::format("1..{}", kClasses));
  definition.parameters.push_back({"seed", **seeds});
  definition.parameters.push_back({"mesh", **meshes});
  definition.cost = SourceText{.text = "20 + 0.2 * mesh", .mark = {}};
  definition.inputs.push_back({.text = "meshes/{mesh}.dat", .mark = {}});
  if (own) definition.inputs.push_back({.text = "own/{mesh}-{seed}.dat", .mark = {}});
  return Application(Sweep::build(std::move(definition)).value());
}

/// What happens to tasks and files, in order of time.
struct Later {
  TimePoint at;
  Event event;
  friend bool operator>(const Later& a, const Later& b) { return a.at > b.at; }
};

class Bench {
 public:
  Bench(std::string_view scheduler, const Application& application, const TaskFiles& files,
        bool own)
      : application_(application), engine_(map()) {
    engine::Workload workload = engine::workload_of(application, files);
    // Sizes as if the files were there, alike within a class.
    if (own)
      workload.private_bytes = [](TaskId task) { return 1e3 * (1 + task.value() % kClasses); };
    engine_.add_run(
        kRun, std::move(workload), {},
        schedule::make_scheduler(scheduler, {.interval = 60, .adaptive = true}).value());
    for (const FileMade& file : files.shared()) engine_.apply(FileMade{file.file, kHome, 1e6});
    for (std::uint32_t i = 0; i < kHosts; ++i)
      engine_.apply(HostUp{{.id = HostId(i + 1),
                            .name = fmt::format("h{}", i),
                            .cores = 1,
                            .memory = 0,
                            .site = SiteId(1 + i % kSites)}});
  }

  /// CPU seconds.
  double decide() {
    std::vector<Action> actions;
    const double took = timed([&] { actions = engine_.decide(now_); });
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartAttempt>(&action)) end_later(*start);
      if (const auto* move = std::get_if<MoveFile>(&action))
        later_.push({now_ + std::chrono::seconds(1), FileArrived{move->file, move->to, now_}});
    }
    return took;
  }

  /// The next event; false if there is none.
  bool advance() {
    if (later_.empty()) return false;
    const Later next = later_.top();
    later_.pop();
    now_ = std::max(now_, next.at);
    engine_.apply(next.event);
    return true;
  }

 private:
  static SiteMap map() {
    SiteMap map;
    for (std::uint32_t site = 1; site <= kSites; ++site)
      map.ways.push_back({.other = SiteId(site), .bandwidth = 1e6});
    return map;
  }

  void end_later(const StartAttempt& start) {
    AttemptEnded ended;
    ended.report.key = start.key;
    ended.report.started = now_;
    ended.report.ended = now_ + from_seconds(application_.cost(start.key.task));
    ended.host = start.host;
    later_.push({ended.report.ended, ended});
  }

  const Application& application_;
  engine::Engine engine_;
  TimePoint now_ = TimePoint{} + std::chrono::hours(1);
  std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
};

void measure(std::string_view scheduler, std::uint32_t pending, bool own) {
  const Application application = study(pending, own);
  FileNames names;
  TaskFiles files;
  const double looked = timed([&] { files = TaskFiles(application, names); });
  Bench bench(scheduler, application, files, own);
  const double first = bench.decide();
  std::vector<double> took;
  while (took.size() < kEvents && bench.advance()) took.push_back(bench.decide());
  std::ranges::sort(took);
  double sum = 0;
  for (const double each : took) sum += each;
  fmt::print("| {} | {} | {} | {:.0f} ms | {:.0f} ms | {:.0f} µs | {:.0f} µs | {:.1f} ms |\n",
             scheduler, pending, own ? "shared, private" : "shared", looked * 1e3, first * 1e3,
             took[took.size() / 2] * 1e6, sum / static_cast<double>(took.size()) * 1e6,
             took.back() * 1e3);
  std::fflush(stdout);
}

}  // namespace
}  // namespace gantry

int main(int count, char** words) {
  std::vector<std::uint32_t> pending;
  for (int i = 1; i < count; ++i)
    pending.push_back(static_cast<std::uint32_t>(std::strtoul(words[i], nullptr, 10)));
  if (pending.empty()) pending = {10'000, 100'000, 1'000'000};
  fmt::print(
      "| scheduler | pending | inputs | finding files | first decide() | later, median | mean | "
      "longest |\n");
  fmt::print("|---|---:|---|---:|---:|---:|---:|---:|\n");
  for (const char* scheduler : {"best", "xsufferage", "workqueue"})
    for (const bool own : {false, true})
      for (const std::uint32_t each : pending) gantry::measure(scheduler, each, own);
}
