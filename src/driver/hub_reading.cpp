// Hub: actions, reports and studies that wait until the files they need have been read.
#include <algorithm>
#include <utility>

#include "driver/hub.hpp"

namespace gantry::driver {

void Hub::park(const Action& action) {
  parked_.push_back({action, contents_.asked_for()});
}

Result<> Hub::carry_out_read() {
  TRY(contents_.take_read());
  std::vector<Action> ready;
  for (Parked& parked : std::exchange(parked_, {})) {
    if (parked.files > contents_.has_read())
      parked_.push_back(std::move(parked));
    else
      ready.push_back(std::move(parked.action));
  }
  carry_out(ready);
  for (Unchecked& each : std::exchange(unchecked_, {})) {
    if (each.files > contents_.has_read() && stops_ == 0)
      unchecked_.push_back(std::move(each));
    else
      TRY(on_news(std::move(each.received)));
  }
  for (Joining& each : std::exchange(joining_, {})) {
    if (each.files > contents_.has_read())
      joining_.push_back(std::move(each));
    else
      TRY(on_study(each.request));
  }
  return {};
}

bool Hub::must_read_inputs(const Application& application) {
  ContentCache::Study study = study_of(application);
  const ContentCache::As as(contents_, study);
  const ContentCache::Aside aside(contents_);
  bool must_read = false;
  Task task;
  for (std::uint32_t i = 1; i <= application.size(); ++i) {
    application.fill_task(TaskId(i), task);
    if (i > 1 && application.same_inputs() && task.value_files.empty()) continue;
    const auto print = contents_.fingerprint(task, [this] { return stop_waits(); });
    must_read = must_read || (!print && print.error().code == ErrorCode::busy);
  }
  return must_read;
}

bool Hub::unpark(HostId host, std::span<const TaskKey> keys) {
  const auto is_concerned = [&](const Parked& parked) {
    const auto* start = std::get_if<StartAttempt>(&parked.action);
    return start != nullptr && start->host == host &&
           (keys.empty() || std::ranges::find(keys, start->key) != keys.end());
  };
  std::vector<TaskKey> returned;
  for (const Parked& parked : parked_)
    if (is_concerned(parked)) returned.push_back(std::get<StartAttempt>(parked.action).key);
  std::erase_if(parked_, is_concerned);
  for (const TaskKey& key : returned) engine_.apply(AttemptReturned{key, host});
  return !returned.empty();
}

}  // namespace gantry::driver
