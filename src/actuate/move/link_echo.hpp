#pragma once
/// How long a site's file server takes to answer: an empty message tells how far away it is, one
/// with a padding also how fast the link is. At most one is out at a time. A plain value, owned by
/// a mover; time is handed in.

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "depot/files_protocol.hpp"

namespace gantry {

class LinkEcho {
 public:
  /// Appends an empty echo when one is due: every few seconds while the link is quiet.
  void ask_if_due(std::string& out, TimePoint now);
  /// Appends an empty one now; when it is answered, `bytes` of padding wait to be sent after it.
  /// REQUIRES: !is_out().
  void probe(std::string& out, std::uint64_t bytes, TimePoint now);
  [[nodiscard]] bool has_padding_to_send() const { return !asked_ && probe_bytes_ > 0; }
  void send_padding(std::string& out, TimePoint now);
  /// Something is in its way.
  void drop_padding() { probe_bytes_ = 0; }

  struct Answer {
    double seconds = 0;
    std::uint64_t bytes = 0;  ///< of padding
    double trip = 0;          ///< of a probe: what the empty one took just before it
  };
  /// Takes an answer in; `answer` stays empty when it does not count. False when no file server of
  /// ours says that: it cannot have all bytes yet.
  bool answered(const depot::Echoed& echoed, TimePoint now, std::optional<Answer>& answer);

  /// A file is in the way of what is out: its answer says nothing.
  void disturb() { disturbed_ = true; }
  /// The connection is lost, and what was out with it.
  void forget();
  [[nodiscard]] bool is_out() const { return asked_.has_value(); }

 private:
  void ask(std::string& out, std::uint64_t bytes, TimePoint now);

  std::optional<TimePoint> asked_;
  TimePoint due_ = kNever;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;  ///< of what is out
  std::uint64_t seal_ = 0;
  std::uint64_t probe_bytes_ = 0;  ///< to be sent after the answer
  double trip_ = 0;
  bool disturbed_ = false;
};

}  // namespace gantry
