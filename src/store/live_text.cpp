// LiveState as JSON: one list of members for each of its parts, by which it is written and read.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "store/live_state.hpp"

namespace gantry::store {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostText = 300;
constexpr std::size_t kMostFiles = 8;  ///< that one task waits for
constexpr double kMostReal = 1e18;

constexpr std::array<std::pair<HostCondition, std::string_view>, 6> kConditions{{
    {HostCondition::up, "up"},
    {HostCondition::connecting, "connecting"},
    {HostCondition::lost, "lost"},
    {HostCondition::queued, "queued"},
    {HostCondition::suspended, "suspended"},
    {HostCondition::away, "away"},
}};

/// Seconds since 1970, to the millisecond.
double stamp(TimePoint time) {
  return std::floor(static_cast<double>(to_ns(time)) / 1e6) / 1e3;
}

/// Writes members. What is not known is left out, but for numbers that are `always` there.
class LiveWriter {
 public:
  explicit LiveWriter(Json& json) : json_(json) {}

  template <class Number>
  void always(const char* name, Number value, double /*most*/ = kMostReal) {
    json_[name] = value;
  }
  template <class Number>
  void some(const char* name, Number value, double /*most*/ = kMostReal) {
    if (value > 0) json_[name] = value;
  }
  void flag(const char* name, bool value) {
    if (value) json_[name] = true;
  }
  void time(const char* name, TimePoint time) {
    if (time != kNever) json_[name] = stamp(time);
  }
  void text(const char* name, const std::string& text) {
    if (!text.empty()) json_[name] = text.substr(0, kMostText);
  }
  void condition(const char* name, HostCondition condition) { json_[name] = to_string(condition); }
  void has(const char* /*name*/, bool /*there*/) {}

  template <class Part, class Fields>
  void part(const char* name, const Part& part, bool known, const Fields& fields) {
    if (known) write(json_[name], part, fields);
  }
  template <class Item, class Fields>
  void list(const char* name, const std::vector<Item>& items, std::size_t /*most*/,
            const Fields& fields) {
    Json& list = json_[name] = Json::array();
    for (const Item& item : items) write(list.emplace_back(), item, fields);
  }
  void texts(const char* name, const std::vector<std::string>& texts, std::size_t most) {
    if (texts.empty()) return;
    Json& list = json_[name] = Json::array();
    for (std::size_t i = 0; i < std::min(texts.size(), most); ++i)
      list.push_back(texts[i].substr(0, kMostText));
  }

 private:
  template <class Item, class Fields>
  static void write(Json& json, const Item& item, const Fields& fields) {
    json = Json::object();
    LiveWriter writer(json);
    fields(writer, item);
  }

  Json& json_;
};

/// Reads the same members, and believes none of them.
class LiveReader {
 public:
  explicit LiveReader(const Json& json) : json_(json) {}

  template <class Number>
  void always(const char* name, Number& value, double most = kMostReal) const {
    if constexpr (std::is_integral_v<Number> && sizeof value <= 4)
      most = std::min(most, std::is_signed_v<Number> ? 1e9 : 4e9);
    value = static_cast<Number>(real(name, most));
  }
  template <class Number>
  void some(const char* name, Number& value, double most = kMostReal) const {
    always(name, value, most);
  }
  void flag(const char* name, bool& value) const { value = member(name) == true; }
  void time(const char* name, TimePoint& time) const {
    constexpr double kMostSeconds = 9e9;  // its nanoseconds can be counted
    const double at = real(name, kMostSeconds);
    time = at > 0 ? from_ns(std::llround(at * 1e3) * 1'000'000) : kNever;
  }
  void text(const char* name, std::string& text) const { text = short_text(member(name)); }
  void condition(const char* name, HostCondition& condition) const {
    const std::string state = short_text(member(name));
    for (const auto& [known, word] : kConditions)
      if (word == state) condition = known;
  }
  void has(const char* name, bool& there) const { there = member(name).is_number(); }

  template <class Part, class Fields>
  void part(const char* name, Part& part, bool /*known*/, const Fields& fields) const {
    const LiveReader reader(member(name));
    fields(reader, part);
  }
  /// `most` is how many are read, and less by those that were.
  template <class Item, class Fields>
  void list(const char* name, std::vector<Item>& items, std::size_t& most,
            const Fields& fields) const {
    for (const Json& item : array(name)) {
      if (most == 0) return;
      --most;
      const LiveReader reader(item);
      fields(reader, items.emplace_back());
    }
  }
  void texts(const char* name, std::vector<std::string>& texts, std::size_t most) const {
    for (const Json& item : array(name))
      if (item.is_string() && texts.size() < most) texts.push_back(short_text(item));
  }

 private:
  [[nodiscard]] const Json& member(const char* name) const {
    static const Json kNothing;
    if (!json_.is_object()) return kNothing;
    const auto found = json_.find(name);
    return found == json_.end() ? kNothing : *found;
  }
  [[nodiscard]] const Json& array(const char* name) const {
    static const Json kNone = Json::array();
    const Json& list = member(name);
    return list.is_array() ? list : kNone;
  }
  /// 0 when it is no number, or one that cannot be.
  [[nodiscard]] double real(const char* name, double most) const {
    const Json& value = member(name);
    if (!value.is_number()) return 0;
    const double number = value.get<double>();
    return number >= 0 && number <= most ? number : 0;
  }
  static std::string short_text(const Json& value) {
    return value.is_string() ? value.get_ref<const std::string&>().substr(0, kMostText) : "";
  }

  const Json& json_;
};

// The members of each part, for both of them.
// -----------------------------------------------------------------------------------------

constexpr auto kForecastFields = [](auto& io, auto& forecast) {
  io.always("value", forecast.value);
  io.always("low", forecast.low);
  io.always("high", forecast.high);
  io.text("by", forecast.member);
  io.always("observed", forecast.observed);
  io.always("quarantined", forecast.quarantined);
  io.always("scored", forecast.scored);
  io.always("error", forecast.error);
  io.always("inside", forecast.inside, 1);
};
constexpr auto kForecast = [](auto& io, const char* name, auto& forecast) {
  io.part(name, forecast, forecast.value > 0, kForecastFields);
};

constexpr auto kModelFields = [](auto& io, auto& model) {
  io.text("family", model.family);
  io.always("error", model.error);
  io.always("tasks", model.tasks);
  io.always("task", model.example);
  io.always("seconds", model.seconds);
  io.always("low", model.low);
  io.always("high", model.high);
};

constexpr auto kAmountFields = [](auto& io, auto& amount) {
  io.text("family", amount.family);
  io.always("error", amount.error);
  io.always("tasks", amount.tasks);
  io.some("margin", amount.margin);
  io.always("task", amount.example);
  io.always("bytes", amount.bytes);
  io.some("low", amount.low);
  io.some("high", amount.high);
};

constexpr auto kSiteFields = [](auto& io, auto& site) {
  io.text("site", site.name);
  io.always("hosts", site.hosts);
  io.always("up", site.hosts_up);
  io.always("slots", site.slots);
  io.always("busy", site.busy);
  io.always("files", site.files);
  io.flag("leaving", site.leaving);
  io.some("homeward", site.homeward);
  io.some("files_of", site.files_of);
  io.some("bytes_per_second", site.bytes_per_second);
  io.some("to_send", site.to_send);
  io.text("sending", site.sending);
  if (!site.sending.empty()) io.always("sent_part", site.sent_part, 1);
  io.some("learnt_bandwidth", site.learnt_bandwidth);
  io.some("declared_bandwidth", site.declared_bandwidth);
  io.some("probes", site.probes);
  io.some("from_sites", site.from_sites);
  kForecast(io, "link_forecast", site.link_forecast);
  kForecast(io, "echo_forecast", site.echo_forecast);
  kForecast(io, "queue_forecast", site.queue_forecast);
  kForecast(io, "launch_forecast", site.launch_forecast);
};

constexpr auto kTaskFields = [](auto& io, auto& task) {
  io.always("task", task.task);
  io.always("attempt", task.attempt);
  io.time("started", task.started);
  io.some("cost", task.cost);
  io.some("expected_seconds", task.expected);
  io.some("memory", task.memory);
  if (task.memory > 0) io.always("memory_learnt_from", task.memory_learnt_from);
  io.some("memory_died_with", task.memory_died_with);
  io.some("run", task.run);
};

constexpr auto kArrivalFields = [](auto& io, auto& arrival) {
  io.always("task", arrival.task);
  io.always("attempt", arrival.attempt);
  io.time("since", arrival.since);
  io.some("run", arrival.run);
};

constexpr auto kHostFields = [](auto& io, auto& host, std::size_t& tasks_left) {
  io.text("host", host.name);
  io.always("site", host.site);
  io.condition("state", host.condition);
  io.always("slots", host.slots);
  io.always("busy", host.busy);
  io.always("running", host.running);
  io.always("done", host.done);
  io.time("since", host.since);
  io.text("why", host.why);
  io.has("free_cores", host.told);
  if (host.told) {
    io.always("free_cores", host.free_cores, 1e6);
    io.always("free_memory", host.free_memory);
    io.always("free_disk", host.free_disk);
  }
  io.some("pace", host.pace);
  kForecast(io, "pace_forecast", host.pace_forecast);
  io.some("share", host.share, 1);
  kForecast(io, "share_forecast", host.share_forecast);
  io.list("tasks", host.tasks, tasks_left, kTaskFields);
  io.some("homeward", host.homeward);
  if (host.homeward > 0) io.list("arrivals", host.arrivals, tasks_left, kArrivalFields);
};

constexpr auto kWaitFields = [](auto& io, auto& wait) {
  io.always("task", wait.task);
  io.some("host", wait.host);
  io.time("until", wait.until);
  io.some("cost", wait.cost);
  io.texts("files", wait.files, kMostFiles);
  io.some("run", wait.run);
};

constexpr auto kCountsFields = [](auto& io, auto& counts) {
  io.always("total", counts.total);
  io.always("done", counts.done);
  io.always("reused", counts.reused);
  io.always("failed", counts.failed);
  io.always("cancelled", counts.cancelled);
  io.always("running", counts.running);
};

constexpr auto kEndFields = [](auto& io, auto& of) {
  io.time("ends", of.ends);
  io.time("ends_soonest", of.ends_soonest);
  io.time("ends_latest", of.ends_latest);
};

constexpr auto kRunFields = [](auto& io, auto& run) {
  io.always("run", run.run);
  io.text("name", run.name);
  kCountsFields(io, run.counts);
  kEndFields(io, run);
  io.text("draining", run.draining);
};

/// All but `at`, which is written apart.
constexpr auto kStateFields = [](auto& io, auto& state) {
  io.always("pid", state.pid);
  io.always("run", state.run);
  io.text("scheduler", state.scheduler);
  kCountsFields(io, state.counts);
  io.always("retrying", state.retrying);
  io.always("staging", state.staging);
  io.always("handed_over", state.handed_over);
  io.time("began", state.began);
  kEndFields(io, state);
  io.some("run_times_scored", state.run_times_scored);
  if (state.run_times_scored > 0) io.always("run_times_error", state.run_times_error);
  io.part("run_time_model", state.model, !state.model.family.empty(), kModelFields);
  io.part("memory_model", state.memory, !state.memory.family.empty(), kAmountFields);
  io.part("output_model", state.outputs, !state.outputs.family.empty(), kAmountFields);
  io.some("tasks_per_second", state.tasks_per_second);
  io.text("draining", state.draining);
  io.text("grid", state.grid);
  std::size_t runs_left = kMostLiveRuns;
  io.list("runs", state.runs, runs_left, kRunFields);
  std::size_t sites_left = kMostLiveSites;
  io.list("sites", state.sites, sites_left, kSiteFields);
  std::size_t hosts_left = kMostLiveHosts;
  std::size_t tasks_left = kMostLiveTasks;
  io.list("hosts", state.hosts, hosts_left,
          [&](auto& of, auto& host) { kHostFields(of, host, tasks_left); });
  io.always("more_hosts", state.more_hosts);
  std::size_t waits_left = kMostLiveTasks;
  io.list("waits", state.waits, waits_left, kWaitFields);
};

}  // namespace

bool LiveState::has(RunId which) const {
  return run == which.value() || find(which) != nullptr;
}

const LiveRun* LiveState::find(RunId which) const {
  const auto found = std::ranges::find(runs, which.value(), &LiveRun::run);
  return found != runs.end() ? &*found : nullptr;
}

std::string_view to_string(HostCondition condition) {
  for (const auto& [known, name] : kConditions)
    if (known == condition) return name;
  return "up";
}

std::string live_text(const LiveState& state) {
  Json json = Json::object();
  LiveWriter writer(json);
  kStateFields(writer, state);
  // Names of files may be any bytes.
  const std::string rest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return "{\"at\":" + Json(stamp(state.at)).dump() + ",\n" + rest.substr(1) + "\n";
}

std::optional<LiveState> read_live_text(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  LiveState state;
  const LiveReader reader(json);
  reader.time("at", state.at);
  kStateFields(reader, state);
  // Places in lists that are not there.
  for (LiveHost& host : state.hosts)
    if (host.site >= state.sites.size()) host.site = 0;
  for (LiveWait& wait : state.waits)
    if (wait.host > state.hosts.size()) wait.host = 0;
  return state;
}

}  // namespace gantry::store
