#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/fd.hpp"
#include "driver/live_state.hpp"
#include "store/run_lock.hpp"

namespace gantry::driver {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{8} << 20;
constexpr std::size_t kMostText = 300;
constexpr std::size_t kMostFiles = 8;  ///< that one task waits for

constexpr std::array<std::pair<HostCondition, std::string_view>, 6> kConditions{{
    {HostCondition::up, "up"},
    {HostCondition::connecting, "connecting"},
    {HostCondition::lost, "lost"},
    {HostCondition::queued, "queued"},
    {HostCondition::suspended, "suspended"},
    {HostCondition::away, "away"},
}};

// Out. What is not known is left out.
// -----------------------------------------------------------------------------------------

/// Seconds since 1970, to the millisecond.
double stamp(TimePoint time) {
  return std::floor(static_cast<double>(to_ns(time)) / 1e6) / 1e3;
}

void put_time(Json& json, const char* name, TimePoint time) {
  if (time != kNever) json[name] = stamp(time);
}
void put_some(Json& json, const char* name, double value) {
  if (value > 0) json[name] = value;
}
void put_text(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text.substr(0, kMostText);
}

void put_forecast(Json& json, const char* name, const LiveForecast& forecast) {
  if (forecast.value <= 0) return;
  json[name] = Json{{"value", forecast.value},       {"low", forecast.low},
                    {"high", forecast.high},         {"by", forecast.member},
                    {"observed", forecast.observed}, {"quarantined", forecast.quarantined},
                    {"scored", forecast.scored},     {"error", forecast.error},
                    {"inside", forecast.inside}};
}

void put_model(Json& json, const LiveModel& model) {
  if (model.family.empty()) return;
  json["run_time_model"] =
      Json{{"family", model.family}, {"error", model.error},     {"tasks", model.tasks},
           {"task", model.example},  {"seconds", model.seconds}, {"low", model.low},
           {"high", model.high}};
}

Json json_of(const LiveSite& site) {
  Json json{{"site", site.name},   {"hosts", site.hosts}, {"up", site.hosts_up},
            {"slots", site.slots}, {"busy", site.busy},   {"files", site.files}};
  if (site.leaving) json["leaving"] = true;
  if (site.homeward > 0) json["homeward"] = site.homeward;
  if (site.files_of > 0) json["files_of"] = site.files_of;
  put_some(json, "bytes_per_second", site.bytes_per_second);
  if (site.to_send > 0) json["to_send"] = site.to_send;
  put_text(json, "sending", site.sending);
  if (!site.sending.empty()) json["sent_part"] = site.sent_part;
  put_some(json, "learnt_bandwidth", site.learnt_bandwidth);
  put_some(json, "declared_bandwidth", site.declared_bandwidth);
  put_some(json, "from_sites", site.from_sites);
  put_forecast(json, "link_forecast", site.link_forecast);
  return json;
}

Json json_of(const LiveHost& host) {
  Json json{{"host", host.name},   {"site", host.site}, {"state", to_string(host.condition)},
            {"slots", host.slots}, {"busy", host.busy}, {"running", host.running},
            {"done", host.done}};
  put_time(json, "since", host.since);
  put_text(json, "why", host.why);
  if (host.told) {
    json["free_cores"] = host.free_cores;
    json["free_memory"] = host.free_memory;
    json["free_disk"] = host.free_disk;
  }
  put_some(json, "pace", host.pace);
  put_forecast(json, "pace_forecast", host.pace_forecast);
  put_some(json, "share", host.share);
  put_forecast(json, "share_forecast", host.share_forecast);
  Json& tasks = json["tasks"] = Json::array();
  for (const LiveTask& task : host.tasks) {
    Json one{{"task", task.task}, {"attempt", task.attempt}};
    put_time(one, "started", task.started);
    tasks.push_back(std::move(one));
  }
  if (host.homeward == 0) return json;
  json["homeward"] = host.homeward;
  Json& arrivals = json["arrivals"] = Json::array();
  for (const LiveArrival& arrival : host.arrivals) {
    Json one{{"task", arrival.task}, {"attempt", arrival.attempt}};
    put_time(one, "since", arrival.since);
    arrivals.push_back(std::move(one));
  }
  return json;
}

Json json_of(const LiveWait& wait) {
  Json json{{"task", wait.task}};
  if (wait.host > 0) json["host"] = wait.host;
  put_time(json, "until", wait.until);
  if (wait.files.empty()) return json;
  Json& files = json["files"] = Json::array();
  for (std::size_t i = 0; i < wait.files.size() && i < kMostFiles; ++i)
    files.push_back(wait.files[i].substr(0, kMostText));
  return json;
}

// In.
// -----------------------------------------------------------------------------------------

const Json& member(const Json& json, const char* name) {
  static const Json kNothing;
  if (!json.is_object()) return kNothing;
  const auto found = json.find(name);
  return found == json.end() ? kNothing : *found;
}

/// 0 when it is no number, or one that cannot be.
double real(const Json& json, const char* name, double most = 1e18) {
  const Json& value = member(json, name);
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  return number >= 0 && number <= most ? number : 0;
}

template <class Number>
void get(const Json& json, const char* name, Number& number) {
  constexpr double kMost = std::is_same_v<Number, int> ? 1e9 : 4e9;
  number = static_cast<Number>(real(json, name, sizeof number > 4 ? 1e18 : kMost));
}
void get(const Json& json, const char* name, TimePoint& time) {
  constexpr double kMostSeconds = 9e9;  // its nanoseconds can be counted
  const double at = real(json, name, kMostSeconds);
  time = at > 0 ? from_ns(std::llround(at * 1e3) * 1'000'000) : kNever;
}
void get(const Json& json, const char* name, std::string& text) {
  const Json& value = member(json, name);
  text = value.is_string() ? value.get_ref<const std::string&>().substr(0, kMostText) : "";
}

/// Each item of a list, so many at the most.
template <class Take>
void each(const Json& json, const char* name, std::size_t most, const Take& take) {
  const Json& list = member(json, name);
  if (!list.is_array()) return;
  for (const Json& item : list) {
    if (most-- == 0) return;
    take(item);
  }
}

LiveForecast forecast_of(const Json& json) {
  LiveForecast forecast;
  forecast.value = real(json, "value");
  forecast.low = real(json, "low");
  forecast.high = real(json, "high");
  get(json, "by", forecast.member);
  get(json, "observed", forecast.observed);
  get(json, "quarantined", forecast.quarantined);
  get(json, "scored", forecast.scored);
  forecast.error = real(json, "error");
  forecast.inside = real(json, "inside", 1);
  return forecast;
}

LiveModel model_of(const Json& json) {
  LiveModel model;
  get(json, "family", model.family);
  model.error = real(json, "error");
  get(json, "tasks", model.tasks);
  get(json, "task", model.example);
  model.seconds = real(json, "seconds");
  model.low = real(json, "low");
  model.high = real(json, "high");
  return model;
}

LiveSite site_of(const Json& json) {
  LiveSite site;
  get(json, "site", site.name);
  get(json, "hosts", site.hosts);
  get(json, "up", site.hosts_up);
  get(json, "slots", site.slots);
  get(json, "busy", site.busy);
  site.leaving = member(json, "leaving") == true;
  get(json, "homeward", site.homeward);
  get(json, "files", site.files);
  get(json, "files_of", site.files_of);
  site.bytes_per_second = real(json, "bytes_per_second");
  get(json, "to_send", site.to_send);
  get(json, "sending", site.sending);
  site.sent_part = real(json, "sent_part", 1);
  site.learnt_bandwidth = real(json, "learnt_bandwidth");
  site.declared_bandwidth = real(json, "declared_bandwidth");
  site.from_sites = real(json, "from_sites");
  site.link_forecast = forecast_of(member(json, "link_forecast"));
  return site;
}

LiveHost host_of(const Json& json, std::size_t sites, std::size_t& tasks_left) {
  LiveHost host;
  get(json, "host", host.name);
  get(json, "site", host.site);
  if (host.site >= sites) host.site = 0;
  std::string state;
  get(json, "state", state);
  for (const auto& [condition, name] : kConditions)
    if (name == state) host.condition = condition;
  get(json, "since", host.since);
  get(json, "why", host.why);
  get(json, "slots", host.slots);
  get(json, "busy", host.busy);
  get(json, "running", host.running);
  get(json, "done", host.done);
  host.told = member(json, "free_cores").is_number();
  host.free_cores = real(json, "free_cores", 1e6);
  get(json, "free_memory", host.free_memory);
  get(json, "free_disk", host.free_disk);
  host.pace = real(json, "pace");
  host.pace_forecast = forecast_of(member(json, "pace_forecast"));
  host.share = real(json, "share", 1);
  host.share_forecast = forecast_of(member(json, "share_forecast"));
  each(json, "tasks", tasks_left, [&](const Json& item) {
    LiveTask& task = host.tasks.emplace_back();
    get(item, "task", task.task);
    get(item, "attempt", task.attempt);
    get(item, "started", task.started);
    --tasks_left;
  });
  get(json, "homeward", host.homeward);
  each(json, "arrivals", tasks_left, [&](const Json& item) {
    LiveArrival& arrival = host.arrivals.emplace_back();
    get(item, "task", arrival.task);
    get(item, "attempt", arrival.attempt);
    get(item, "since", arrival.since);
    --tasks_left;
  });
  return host;
}

LiveWait wait_of(const Json& json, std::size_t hosts) {
  LiveWait wait;
  get(json, "task", wait.task);
  get(json, "host", wait.host);
  if (wait.host > hosts) wait.host = 0;
  get(json, "until", wait.until);
  each(json, "files", kMostFiles, [&](const Json& item) {
    if (item.is_string())
      wait.files.push_back(item.get_ref<const std::string&>().substr(0, kMostText));
  });
  return wait;
}

/// Whatever lies there: a pipe, for example, is not waited for.
std::optional<std::string> read_plain_file(const std::filesystem::path& path) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return std::nullopt;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto text = read_file(path, kMostBytes);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::optional<LiveState> read_shown(const std::filesystem::path& state_dir) {
  const auto text = read_plain_file(live_path(state_dir));
  return text ? read_live_text(*text) : std::nullopt;
}

}  // namespace

std::string_view to_string(HostCondition condition) {
  for (const auto& [known, name] : kConditions)
    if (known == condition) return name;
  return "up";
}

std::filesystem::path live_path(const std::filesystem::path& state_dir) {
  return state_dir / "live.json";
}

std::string live_text(const LiveState& state) {
  Json json{{"pid", state.pid},
            {"run", state.run},
            {"scheduler", state.scheduler},
            {"total", state.counts.total},
            {"done", state.counts.done},
            {"reused", state.counts.reused},
            {"failed", state.counts.failed},
            {"cancelled", state.counts.cancelled},
            {"running", state.counts.running},
            {"retrying", state.retrying},
            {"staging", state.staging},
            {"handed_over", state.handed_over}};
  put_time(json, "began", state.began);
  put_time(json, "ends", state.ends);
  put_time(json, "ends_soonest", state.ends_soonest);
  put_time(json, "ends_latest", state.ends_latest);
  if (state.run_times_scored > 0) {
    json["run_times_scored"] = state.run_times_scored;
    json["run_times_error"] = state.run_times_error;
  }
  put_model(json, state.model);
  put_some(json, "tasks_per_second", state.tasks_per_second);
  put_text(json, "draining", state.draining);
  put_text(json, "grid", state.grid);
  Json& sites = json["sites"] = Json::array();
  for (const LiveSite& site : state.sites) sites.push_back(json_of(site));
  Json& hosts = json["hosts"] = Json::array();
  for (const LiveHost& host : state.hosts) hosts.push_back(json_of(host));
  json["more_hosts"] = state.more_hosts;
  Json& waits = json["waits"] = Json::array();
  for (const LiveWait& wait : state.waits) waits.push_back(json_of(wait));
  // Names of files may be any bytes.
  const std::string rest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return "{\"at\":" + Json(stamp(state.at)).dump() + ",\n" + rest.substr(1) + "\n";
}

std::optional<LiveState> read_live_text(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  LiveState state;
  get(json, "pid", state.pid);
  get(json, "at", state.at);
  get(json, "run", state.run);
  get(json, "scheduler", state.scheduler);
  get(json, "total", state.counts.total);
  get(json, "done", state.counts.done);
  get(json, "reused", state.counts.reused);
  get(json, "failed", state.counts.failed);
  get(json, "cancelled", state.counts.cancelled);
  get(json, "running", state.counts.running);
  get(json, "retrying", state.retrying);
  get(json, "staging", state.staging);
  get(json, "handed_over", state.handed_over);
  state.model = model_of(member(json, "run_time_model"));
  get(json, "began", state.began);
  get(json, "ends", state.ends);
  get(json, "ends_soonest", state.ends_soonest);
  get(json, "ends_latest", state.ends_latest);
  get(json, "run_times_scored", state.run_times_scored);
  state.run_times_error = real(json, "run_times_error");
  state.tasks_per_second = real(json, "tasks_per_second");
  get(json, "draining", state.draining);
  get(json, "grid", state.grid);
  each(json, "sites", kMostLiveSites,
       [&](const Json& item) { state.sites.push_back(site_of(item)); });
  std::size_t tasks_left = kMostLiveTasks;
  each(json, "hosts", kMostLiveHosts, [&](const Json& item) {
    state.hosts.push_back(host_of(item, state.sites.size(), tasks_left));
  });
  get(json, "more_hosts", state.more_hosts);
  each(json, "waits", kMostLiveTasks,
       [&](const Json& item) { state.waits.push_back(wait_of(item, state.hosts.size())); });
  return state;
}

std::optional<LiveState> read_live(const std::filesystem::path& state_dir) {
  const auto holder = store::RunLock::holder(state_dir);
  if (!holder) return std::nullopt;
  auto state = read_shown(state_dir);
  // A gantry that was killed has left its last one.
  if (state && state->pid != *holder) return std::nullopt;
  return state;
}

std::optional<LiveState> read_left_live(const std::filesystem::path& state_dir) {
  auto state = read_shown(state_dir);
  // Whoever holds the lock now shows something else in a moment, or has just ended.
  if (store::RunLock::holder(state_dir)) return std::nullopt;
  return state;
}

void forget_left_live(const std::filesystem::path& state_dir) {
  if (read_left_live(state_dir)) ::unlink(live_path(state_dir).c_str());
}

}  // namespace gantry::driver
