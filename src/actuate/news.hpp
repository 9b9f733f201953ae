#pragma once
/// What actuators tell: events for the engine, reports of attempts, and sentences for a person.
/// Plain values.

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

/// An output that has come here, and where it belongs once its task's report counts.
struct FetchedFile {
  std::string here;
  std::string path;
};

/// A file, or a part of one, that a task wrote where it ran.
struct FarFile {
  std::string remote;  ///< relative to the site's scratch folder
  std::string path;    ///< where it belongs here
  std::uint64_t offset = 0;
  std::uint64_t length = std::numeric_limits<std::uint64_t>::max();  ///< as far as it goes
};

/// What an attempt left at a site whose files are not home's: its Site brings home what is wanted
/// and clears up.
struct LeftThere {
  std::vector<FarFile> outputs{};
  std::vector<FarFile> printed{};  ///< long output; `path` is relative to the folder for it
  /// Files and folders that can go when the report is acknowledged.
  std::vector<std::string> rubbish{};
  std::string kept_folder{};      ///< with outputs that stay there, unless the report is refused
  std::vector<Digest> lacking{};  ///< contents that the depot turned out not to have
};

/// An attempt has ended, as its agent says. Not yet an AttemptEnded: whoever drives the run first
/// puts outputs where they belong, reads results and journals them. The agent keeps the report
/// until it is acknowledged by its receipt.
struct ReportReceived {
  AttemptReport report;
  Fingerprint fingerprint;  ///< of the task when it was started
  HostId host;
  std::uint64_t receipt = 0;  ///< grows with each report of the host; 0: no agent knows of it
  /// Seconds that it took besides its run time, from when it was handed over until its end was
  /// heard, by our clock, if it succeeded and the host was free for it. Its run time is what its
  /// agent says: this may be any number.
  std::optional<double> besides{};
  LeftThere left{};                    ///< of a launcher; its Site has dealt with it
  std::vector<FetchedFile> outputs{};  ///< of a Site: what has come home
};

/// Something a person should know that ends nothing ("output of task 7 was cut: disk full").
struct Notice {
  std::string text;
};

using News = std::variant<Event, ReportReceived, Notice>;

/// Sets the times at which home has heard of an event, and cuts those that a far clock says at
/// ours: no event comes from the future.
void stamp(Event& event, TimePoint now);

/// The news as one of its kinds, or as one of the events; nullptr when it is something else.
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
