#include "driver/reuse.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "driver/old_results.hpp"

namespace gantry::driver {

namespace {

constexpr std::uint32_t kAtOnce = 1U << 20U;  ///< tasks whose fingerprints are held

class Reuse {
 public:
  Reuse(const store::Store& store, const Application& application, const Options& options,
        ContentCache& contents)
      : store_(store),
        application_(application),
        contents_(contents),
        old_results_(store, application, options.state_dir) {}

  Result<KnownElsewhere> find(TaskId first) && {
    TRY_ASSIGN(const bool some, store_.has_results());
    for (std::uint32_t i = first.value(); some && i <= application_.size(); i += kAtOnce)
      TRY(look_up(TaskId(i), std::min(kAtOnce, application_.size() + 1 - i)));
    return std::move(known_);
  }

 private:
  Result<> look_up(TaskId first, std::uint32_t count) {
    Task task;
    std::vector<TaskId> ids;
    std::vector<Fingerprint> prints;
    for (std::uint32_t i = 0; i < count; ++i) {
      application_.fill_task(TaskId(first.value() + i), task);
      auto print = contents_.fingerprint(task);
      if (!print) continue;  // the task itself will say what is missing
      ids.push_back(task.id);
      prints.push_back(*print);
    }
    TRY_ASSIGN(const auto earlier, store_.earlier_results(prints));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto& [same, similar] = earlier[i];
      if (!same && !similar) continue;
      application_.fill_task(ids[i], task);
      if (same) {
        take(task, prints[i], *same);
      } else {
        TRY(look_closer(task, prints[i], *similar));
      }
    }
    return {};
  }

  void take(const Task& task, const Fingerprint& print, const store::Reusable& source) {
    if (const auto output = first_missing(store_, task.outputs); !output.empty()) {
      return again(source, {OutdatedBy::output_missing, output});
    }
    auto results = old_results_.of(task, source);
    if (results) {
      known_.matches.push_back({task.id, source, print, std::move(*results)});
    } else {
      again(source, {OutdatedBy::result, results.error().message});
    }
  }

  /// Perhaps it is known, but with other inputs.
  Result<> look_closer(const Task& task, const Fingerprint& print, const store::Reusable& source) {
    TRY_ASSIGN(const auto made, latest_making(store_, source.holder(), source.held_as()));
    TRY_ASSIGN(const bool holds,
               contents_.holds(made.print, made.began, task, print, {}, made.ended));
    if (holds) {
      take(task, print, source);
    } else {
      again(source, what_changed(made, print, task));
    }
    return {};
  }

  /// A task that has failed runs again without saying.
  void again(const store::Reusable& source, const OutdatedReason& reason) {
    if (!source.unread) add_outdated(known_.outdated, reason);
  }

  const store::Store& store_;
  const Application& application_;
  ContentCache& contents_;
  OldResults old_results_;
  KnownElsewhere known_;
};

}  // namespace

Result<KnownElsewhere> known_elsewhere(const store::Store& store, const Application& application,
                                       TaskId first, const Options& options,
                                       ContentCache& contents) {
  return Reuse(store, application, options, contents).find(first);
}

}  // namespace gantry::driver
