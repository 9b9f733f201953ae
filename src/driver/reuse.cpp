#include "driver/reuse.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "driver/old_results.hpp"

namespace gantry::driver {

namespace {

/// Without the inputs: the task, whatever it read.
Digest without_inputs(Fingerprint print) {
  print.inputs = {};
  return combine(print);
}

class Reuse {
 public:
  Reuse(const store::Store& store, const Sweep& sweep, const Options& options,
        ContentCache& contents)
      : store_(store),
        sweep_(sweep),
        contents_(contents),
        old_results_(store, sweep, options.state_dir) {}

  Result<KnownElsewhere> find() && {
    TRY(store_.for_each_reusable({}, [&](const Fingerprint& print, const store::Reusable& source) {
      // Without the inputs' digest, an input changed while it ran.
      if (!print.inputs.empty()) same_.try_emplace(combine(print), source);
      if (!source.unread) similar_.try_emplace(without_inputs(print), source);
    }));
    if (same_.empty() && similar_.empty()) return std::move(known_);
    Task task;
    for (std::uint32_t i = 1; i <= sweep_.size(); ++i) {
      sweep_.fill_task(TaskId(i), task);
      const auto print = contents_.fingerprint(task);
      if (print) TRY(look_up(task, *print));  // else the task itself will say what is missing
    }
    return std::move(known_);
  }

 private:
  Result<> look_up(const Task& task, const Fingerprint& print) {
    const auto same = same_.find(combine(print));
    if (same == same_.end()) return look_closer(task, print);
    take(task, print, same->second);
    return {};
  }

  void take(const Task& task, const Fingerprint& print, const store::Reusable& source) {
    if (const auto output = first_missing(store_, task.outputs); !output.empty()) {
      return again(source, {"its output is not there", output});
    }
    auto results = old_results_.of(task, source);
    if (results) {
      known_.matches.push_back({task.id, source, print, std::move(*results)});
    } else {
      again(source, {"a result cannot be had from what is stored", results.error().message});
    }
  }

  /// Perhaps it is known, but with other inputs.
  Result<> look_closer(const Task& task, const Fingerprint& print) {
    const auto similar = similar_.find(without_inputs(print));
    if (similar == similar_.end()) return {};
    const store::Reusable& source = similar->second;
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
  void again(const store::Reusable& source, const Reason& reason) {
    if (!source.unread) add_outdated(known_.outdated, reason);
  }

  const store::Store& store_;
  const Sweep& sweep_;
  ContentCache& contents_;
  OldResults old_results_;
  std::unordered_map<Digest, store::Reusable> same_;
  std::unordered_map<Digest, store::Reusable> similar_;
  KnownElsewhere known_;
};

}  // namespace

Digest combine(const Fingerprint& print) {
  return {print.command.high + 3 * print.environment.high + 5 * print.inputs.high,
          print.command.low + 3 * print.environment.low + 5 * print.inputs.low};
}

Result<KnownElsewhere> known_elsewhere(const store::Store& store, const Sweep& sweep,
                                       const Options& options, ContentCache& contents) {
  return Reuse(store, sweep, options, contents).find();
}

}  // namespace gantry::driver
