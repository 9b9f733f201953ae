#pragma once
/// The file server's one object, for file_server*.cpp only.

#include <poll.h>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/time.hpp"
#include "depot/compression.hpp"
#include "depot/depot.hpp"
#include "depot/files_protocol.hpp"
#include "depot/incoming_file.hpp"
#include "depot/outgoing_file.hpp"
#include "depot/pulls.hpp"

namespace gantry::depot {

/// Nothing more is read, neither requests nor files, while so much waits to be sent.
inline constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

class FileServer {
 public:
  FileServer(int in, int out, std::filesystem::path scratch, PullOptions pulls)
      : in_(in),
        out_(out),
        scratch_(std::move(scratch)),
        reader_(kMaxFilesFrame),
        pulls_(std::move(pulls)) {}

  Result<> run();

 private:
  using Incoming = std::map<RequestId, IncomingFile>;

  // file_server.cpp: home.
  Result<> serve();
  [[nodiscard]] std::size_t waiting() const { return outbox_.size() - sent_; }
  [[nodiscard]] bool takes_more() const;
  [[nodiscard]] bool has_files_to_step() const;
  Result<> wait();
  /// In milliseconds; -1: for ever.
  [[nodiscard]] int patience() const;
  Result<> receive();
  void send();
  void write_out();
  /// Unless there is so much to say that it waits.
  void tell_alive();
  static tl::unexpected<Error> not_understood();
  Result<> take(const RawFrame& frame);
  Result<> on(const std::optional<FilesHello>& hello);
  Result<> on(const std::optional<Echo>& echo);
  Result<> tell_what_is_there();

  // file_server_files.cpp: files.
  Result<> on(const std::optional<Store>& m);
  Result<> on(const std::optional<Offer>& m);
  /// Anything that puts a file into the depot piece by piece.
  template <class Announced>
  [[nodiscard]] bool can_begin(const Announced& m) const;
  /// Null when it is answered already.
  template <class Announced>
  IncomingFile* begin(const Announced& m);
  /// Never a hard link: what is in the depot gets another time and other permissions.
  Result<> on(const std::optional<Adopt>& m);
  Result<> on(const std::optional<Pull>& m);
  static Result<UniqueFd> open_staged(const Adopt& m);
  Result<> on(const std::optional<Data>& m);
  void add_piece(Incoming::iterator file, std::string_view bytes);
  Result<> on(std::optional<Fetch> m);
  Result<> on(const std::optional<Remove>& m);
  Result<> on_named(FilesMessage type, const std::optional<Named>& m);
  Result<> on(const std::optional<Numbered>& forget);
  Result<> remove_work(const std::string& path);
  /// What can be done without waiting for home, a piece at a time.
  void step_files();
  void step_pulls();
  void step_reading();
  void step_copying();
  void finish_if_whole(Incoming::iterator file);
  void close(Incoming::iterator file);
  void answer(RequestId id, const Result<>& result);

  int in_;
  int out_;
  std::filesystem::path scratch_;
  FrameReader reader_;
  Packer packer_;
  Unpacker unpacker_;
  MonotonicClock clock_;
  std::string outbox_;
  std::size_t sent_ = 0;  ///< of the outbox
  bool ended_ = false;
  TimePoint alive_at_ = kNever;  ///< when home is told so next
  std::optional<Depot> depot_;   ///< once home has said hello
  std::string sender_;
  UniqueFd work_;
  Incoming incoming_;
  std::set<Digest> arriving_;      ///< the same: two must not write to one partial file
  std::deque<RequestId> to_read_;  ///< incoming files of which a part was there before
  std::deque<std::pair<RequestId, UniqueFd>> copying_;  ///< incoming files, and where from
  std::string piece_;
  Pulls pulls_;
  std::vector<pollfd> fds_;
  std::deque<OutgoingFile> outgoing_;
  std::size_t turn_ = 0;  ///< of the first few of these
};

}  // namespace gantry::depot
