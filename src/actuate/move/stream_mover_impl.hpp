#pragma once
/// The mover's one object, for stream_mover*.cpp only.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/move/link_echo.hpp"
#include "actuate/move/site_link.hpp"
#include "actuate/move/stream_mover.hpp"
#include "actuate/move/transfer_table.hpp"
#include "base/time.hpp"
#include "depot/compression.hpp"
#include "depot/files_protocol.hpp"

namespace gantry {

class StreamMover final : public Mover {
 public:
  explicit StreamMover(StreamMoverOptions options);

  TransferId put(const Put& file) override { return add(file); }
  TransferId get(const Get& file) override { return add(file); }
  TransferId drop(const Digest& content) override { return add(Drop{content}); }
  TransferId verify(const Digest& content) override { return add(Verify{content}); }
  TransferId remove(const std::string& remote) override { return add(RemoveWork{remote}); }

  void cancel(TransferId id) override;
  bool probe(std::uint64_t bytes) override;
  Result<> poll(std::vector<MoverEvent>& events) override;
  /// The descriptor becomes readable also when there is room.
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {link_.wait_fd()}; }

  void glance(SiteGlance& site) const override;
  bool close() override;

 private:
  template <class What>
  TransferId add(const What& what) {
    const TransferId id = transfers_.add(what, clock_.now());
    if constexpr (std::is_same_v<What, Put>) echo_.disturb();
    watch();
    return id;
  }

  void watch();
  [[nodiscard]] bool has_more() const;
  [[nodiscard]] bool wants_link() const;
  void forget_remotely(TransferId id);

  // stream_mover.cpp: the connection.
  void work();
  /// A process there that is stopped, or waits for its disk, breaks no connection.
  void notice_silence();
  void receive();
  /// How far away the site is, while no file is in the way.
  void measure();
  template <class Ask>
  void send_echo(const Ask& ask);
  [[nodiscard]] bool is_quiet() const { return transfers_.puts() == 0 && !streams_home_; }
  void lose_link(std::string why);
  void lose_patience();

  // stream_mover_answers.cpp: what the site says. False when that cannot be.
  bool take(depot::FilesMessage type, std::string_view body);
  bool on(const std::optional<depot::FilesWelcome>& m);
  bool on(const std::optional<depot::InventoryPart>& m);
  bool on(const std::optional<depot::Refused>& m);
  bool on(const std::optional<depot::SendFrom>& m);
  bool on(const std::optional<depot::Numbered>& done);
  bool on(const std::optional<depot::Failed>& m);
  bool begin_again(TransferId id);
  bool on(const std::optional<depot::FileHead>& m);
  bool on(const std::optional<depot::Data>& m);
  bool on(const std::optional<depot::FileEnd>& m);
  bool on(const std::optional<depot::Echoed>& m);

  // stream_mover_send.cpp: what is sent.
  /// A problem of our own: the site need not go on.
  void give_up(TransferId id, const Error& error);
  void send();
  void flush();
  /// Requests, with small files, up to about the size of a piece: large files go on in between.
  void announce_some();
  /// What the site can do without us.
  void announce_last();
  void announce(TransferId id, Transfer& transfer, const Put& put, std::string& out);
  static void announce(TransferId id, Transfer& transfer, const Get& get, std::string& out);
  static void announce(TransferId id, Transfer&, const Drop& drop, std::string& out);
  static void announce(TransferId id, Transfer&, const Verify& verify, std::string& out);
  static void announce(TransferId id, Transfer&, const RemoveWork& work, std::string& out);
  /// The next piece of the first large file.
  void send_piece();

  static constexpr const char* kNotUnderstood =
      "what the remote side sends is not our protocol (does its shell print something when it "
      "starts?)";

  StreamMoverOptions options_;
  MonotonicClock clock_;
  SiteLink link_;
  depot::Packer packer_;
  depot::Unpacker unpacker_;
  TimePoint heard_ = kNever;   ///< from the site, or it was connected to
  bool greeted_ = false;       ///< on this connection
  bool greeted_once_ = false;  ///< and its inventory told
  std::optional<Error> fatal_;
  Inventory inventory_;  ///< as far as it has come
  std::vector<Inventory> inventories_;
  TransferTable transfers_;
  std::deque<TransferId> sending_;  ///< large files that the site waits for
  LinkEcho echo_;
  std::size_t echo_left_ = 0;  ///< bytes of an echo that are to be sent yet
  bool streams_home_ = false;  ///< more than small files came when it was polled last
  std::uint64_t received_before_ = 0;
  std::uint64_t sent_ = 0;      ///< bytes, over all connections, without echoes
  std::uint64_t received_ = 0;  ///< of files
  std::uint64_t pulled_ = 0;    ///< of files that came from other sites
};

}  // namespace gantry
