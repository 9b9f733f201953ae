#pragma once
/// What sites report: events for the engine, reports of attempts, and notices for a person. Plain
/// values.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/hash.hpp"
#include "model/event.hpp"
#include "model/ids.hpp"
#include "model/outcome.hpp"

namespace gantry {

/// An output that has come home, and its place once the task's report counts.
struct FetchedFile {
  std::string here;
  std::string path;
};

/// A file, or a part of one, that a task wrote where it ran.
struct FarFile {
  std::string remote;  ///< relative to the site's scratch folder
  std::string path;    ///< where it belongs here
  std::uint64_t offset = 0;
  std::uint64_t length = std::numeric_limits<std::uint64_t>::max();  ///< default: to its end
};

/// What an attempt left at a site that does not see home's files. The Site brings the outputs home
/// and cleans up.
struct LeftThere {
  std::vector<FarFile> outputs{};
  std::vector<FarFile> printed{};  ///< long output; `path` is relative to the output folder
  /// Files and folders to remove when the report is acknowledged.
  std::vector<std::string> rubbish{};
  std::string kept_folder{};  ///< folder of outputs that stay there, unless the report is refused
  std::vector<Digest> lacking{};  ///< contents that the depot turned out to lack
};

/// An agent reports that an attempt has ended. It is not yet an AttemptEnded: the driver first
/// moves outputs to their place, reads results and journals them. The agent keeps the report until
/// it is acknowledged by its receipt.
struct ReportReceived {
  AttemptReport report;
  Fingerprint fingerprint;  ///< the task's fingerprint when it was started
  HostId host;
  std::uint64_t receipt = 0;  ///< grows with each report of the host; 0: no agent knows this report
  /// Seconds that it took besides its run time, from the hand-over until its end was heard, by our
  /// clock. Only if it succeeded and the host was free for it. The run time is the agent's claim,
  /// so this may be any number.
  std::optional<double> besides{};
  LeftThere left{};                    ///< set by the launcher; the Site has dealt with it
  std::vector<FetchedFile> outputs{};  ///< set by the Site: what has come home
};

/// The report of an attempt that no agent can speak for; it ends now.
[[nodiscard]] AttemptReport unrun_report(const TaskKey& key, FailureCause cause, std::string why);

/// Something a person should know that ends nothing ("output of task 7 was cut: disk full").
struct Notice {
  std::string text;
};

using News = std::variant<Event, ReportReceived, Notice>;

/// Sets the times at which home heard of an event, and limits times of a remote clock to `now`: no
/// event comes from the future.
void stamp(Event& event, TimePoint now);

/// The news as this kind of news or event; nullptr if it is something else.
template <class What>
[[nodiscard]] const What* find_in(const News& news) {
  if constexpr (std::is_same_v<What, ReportReceived> || std::is_same_v<What, Notice>) {
    return std::get_if<What>(&news);
  } else {
    const auto* event = std::get_if<Event>(&news);
    return event == nullptr ? nullptr : std::get_if<What>(event);
  }
}
template <class What>
[[nodiscard]] What* find_in(News& news) {
  return const_cast<What*>(find_in<What>(static_cast<const News&>(news)));
}

}  // namespace gantry
