#include "actuate/move/stream_mover.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "actuate/move/file_to_send.hpp"
#include "actuate/move/transfer_table.hpp"
#include "depot/files_protocol.hpp"

namespace gantry {

namespace {

using depot::FilesMessage;
using depot::kPieceBytes;

/// What is made ready to be sent at once, and what is sent and received in one poll() at the most.
constexpr std::size_t kBatch = std::size_t{512} << 10;
constexpr std::size_t kMostInAPoll = std::size_t{8} << 20;
/// A site that claims to have more files is not believed.
constexpr std::size_t kMostFiles = 4'000'000;

std::string random_name() {
  std::uint64_t bits[2] = {};
  if (::getrandom(bits, sizeof bits, 0) != sizeof bits) bits[0] = 1;
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

class StreamMover final : public Mover {
 public:
  explicit StreamMover(StreamMoverOptions options)
      : options_(std::move(options)),
        link_(options_.connect, options_.first_pause, options_.longest_pause) {
    if (options_.name.empty()) options_.name = random_name();
  }

  TransferId put(const Put& file) override { return add(file); }
  TransferId get(const Get& file) override { return add(file); }
  TransferId drop(const Digest& content) override { return add(Drop{content}); }
  TransferId verify(const Digest& content) override { return add(Verify{content}); }
  TransferId remove(const std::string& remote) override { return add(RemoveWork{remote}); }

  void cancel(TransferId id) override {
    if (!transfers_.contains(id)) return;
    forget_remotely(id);
    transfers_.cancel(id);
    watch();
  }

  Result<> poll(std::vector<MoverEvent>& events) override {
    if (!fatal_) work();
    for (auto& event : std::exchange(inventories_, {})) events.emplace_back(std::move(event));
    for (auto& event : transfers_.take_events()) events.push_back(std::move(event));
    if (fatal_) return tl::unexpected(*fatal_);
    return {};
  }

  [[nodiscard]] int wait_fd() const override { return link_.wait_fd(); }
  /// The descriptor becomes readable when there is room.
  [[nodiscard]] bool wants_to_send() const override { return false; }

  void glance(SiteGlance& site) const override {
    site.sent = sent_;
    site.received = received_;
    site.pulled = pulled_;
    if (sending_.empty()) return;
    const auto [transfer, put] = transfers_.find<Put>(sending_.front());
    if (transfer != nullptr) site.sending = {put->path, transfer->offset, put->bytes};
  }

  void close() override {
    if (link_.is_up()) {
      if (greeted_) announce_last();
      link_.stream().send();
      ::shutdown(link_.stream().fd(), SHUT_WR);
    }
    transfers_.clear();
    sending_.clear();
    greeted_once_ = true;
    link_.close();
  }

 private:
  template <class What>
  TransferId add(const What& what) {
    const TransferId id = transfers_.add(what, clock_.now());
    watch();
    return id;
  }

  void watch() {
    const bool to_send = link_.is_up() && (link_.stream().wants_to_send() || has_more());
    link_.watch(clock_.now(), to_send, wants_link());
  }
  [[nodiscard]] bool has_more() const {
    return greeted_ && (transfers_.has_next() || !sending_.empty());
  }
  [[nodiscard]] bool wants_link() const {
    return !fatal_ && (!greeted_once_ || !transfers_.empty());
  }

  void forget_remotely(TransferId id) {
    if (greeted_)
      encode(link_.stream().outbox(), FilesMessage::forget, depot::Numbered{id.value()});
  }

  // The connection.
  // -------------------------------------------------------------------------------

  void work() {
    if (wants_link() && link_.connect_if_due(clock_.now())) {
      encode(link_.stream().outbox(),
             depot::FilesHello{depot::kFilesVersion, options_.name, options_.quota});
    }
    if (link_.is_up()) {
      flush();
      receive();
    }
    if (link_.is_up()) send();
    if (!link_.is_up()) lose_patience();
    watch();
  }

  void receive() {
    for (std::size_t received = 0; received < kMostInAPoll; received += kPieceBytes) {
      const auto got = link_.stream().receive(kPieceBytes);
      if (got == agent::FrameStream::Received::nothing) return;
      if (got == agent::FrameStream::Received::end)
        return lose_link(greeted_ ? "the connection broke off" : "the remote side did not answer");
      while (const auto frame = link_.stream().next()) {
        const auto type = static_cast<FilesMessage>(frame->type);
        if (!take(type, frame->body)) return lose_link(kNotUnderstood);
        if (!link_.is_up()) return;
      }
      if (link_.stream().broken()) return lose_link(kNotUnderstood);
    }
  }

  void lose_link(std::string why) {
    link_.lost(clock_.now(), std::move(why));
    greeted_ = false;
    inventory_ = {};
    sending_.clear();
    transfers_.announce_all_again();
  }

  void lose_patience() {
    const TimePoint now = clock_.now();
    if (now - link_.down_since() < options_.patience) return;
    transfers_.fail_asked_before(now - options_.patience,
                                 fmt::format("the site could not be reached for {:.0f} s: {}",
                                             seconds(options_.patience), link_.why()));
  }

  // What the site says. False when that cannot be.
  // --------------------------------------------------------------------------------

  bool take(FilesMessage type, std::string_view body) {
    switch (type) {
      case FilesMessage::welcome:
        return on(depot::decode_files_welcome(body));
      case FilesMessage::inventory:
        return on(depot::decode_inventory(body));
      case FilesMessage::send_from:
        return on(depot::decode_send_from(body));
      case FilesMessage::done:
        return on(depot::decode_numbered(body));
      case FilesMessage::failed:
        return on(depot::decode_failed(body));
      case FilesMessage::file:
        return on(depot::decode_file_head(body));
      case FilesMessage::data_packed:
        return on(depot::decode_data_packed(body, unpacker_));
      case FilesMessage::data:
        return on(depot::decode_data(body));
      case FilesMessage::end:
        return on(depot::decode_file_end(body));
      case FilesMessage::refused:
        return on(depot::decode_refused(body));
      default:
        return false;
    }
  }

  bool on(const std::optional<depot::FilesWelcome>& m) {
    if (!m || greeted_) return false;
    if (m->version != depot::kFilesVersion) {
      fatal_ = Error{ErrorCode::version,
                     fmt::format("the site's gantry-agent speaks version {} of the file protocol, "
                                 "this gantry version {}",
                                 m->version, depot::kFilesVersion),
                     {}};
      transfers_.fail_all(fatal_->message);
      close();
      return true;
    }
    greeted_ = true;
    link_.answered();
    inventory_.free_bytes = m->free_bytes;
    inventory_.total_bytes = m->total_bytes;
    return true;
  }

  bool on(const std::optional<depot::InventoryPart>& m) {
    if (!m || !greeted_ || inventory_.files.size() + m->files.size() > kMostFiles) return false;
    for (const auto& file : m->files) inventory_.files.push_back({file.content, file.bytes});
    if (!m->last) return true;
    greeted_once_ = true;
    inventories_.push_back(std::exchange(inventory_, {}));
    return true;
  }

  bool on(const std::optional<depot::Refused>& m) {
    if (!m) return false;
    lose_link("the remote side says: " + m->why);
    return true;
  }

  bool on(const std::optional<depot::SendFrom>& m) {
    if (!m) return false;
    const auto [transfer, put] = transfers_.find<Put>(TransferId(m->id));
    if (transfer == nullptr) return true;
    if (m->offset > put->bytes || transfer->fd) return false;
    transfer->offset = m->offset;
    transfer->resumed = m->offset > 0;
    if (m->offset < put->bytes) sending_.emplace_back(m->id);
    return true;
  }

  bool on(const std::optional<depot::Numbered>& done) {
    if (!done) return false;
    const TransferId id(done->id);
    if (!transfers_.contains(id)) return true;
    if (std::holds_alternative<Get>(transfers_.at(id).what)) return false;
    const auto [transfer, put] = transfers_.find<Put>(id);
    if (transfer != nullptr && transfer->way_of(*put) == PutBy::pulling) pulled_ += put->bytes;
    transfers_.succeed(id, clock_.now());
    return true;
  }

  bool on(const std::optional<depot::Failed>& m) {
    if (!m) return false;
    const TransferId id(m->id);
    const auto [transfer, put] = transfers_.find<Put>(TransferId(m->id));
    const PutBy tried = transfer != nullptr ? transfer->way_of(*put) : PutBy::sending;
    if (tried != PutBy::sending) {
      const bool pulled = tried == PutBy::pulling;
      (pulled ? transfer->not_pulled : transfer->not_staged) = true;
      const bool differs = m->problem == depot::FilesProblem::other_content;
      transfers_.remark(SentAfterAll{id, differs ? "it has another content" : m->why, pulled,
                                     m->problem == depot::FilesProblem::no_way});
      transfers_.announce_again(id);
      return true;
    }
    if (transfer != nullptr && m->problem == depot::FilesProblem::other_content) {
      // What had been sent before may have been damaged, or of a file that has changed since.
      if (transfer->resumed && !std::exchange(transfer->again, true)) return begin_again(id);
      transfers_.fail(id,
                      put->path + ": changed while it was sent: what arrived is not its content");
    } else if (transfers_.contains(id)) {
      transfers_.fail(id, m->why, {.gone = m->problem == depot::FilesProblem::gone});
    }
    return true;
  }

  bool begin_again(TransferId id) {
    Transfer& transfer = transfers_.at(id);
    transfer.fd.reset();
    if (transfer.arriving) transfer.arriving->forget();
    transfers_.announce_again(id);
    return true;
  }

  bool on(const std::optional<depot::FileHead>& m) {
    if (!m) return false;
    const auto [transfer, get] = transfers_.find<Get>(TransferId(m->id));
    if (transfer == nullptr) return true;
    if (m->bytes > get->length || !transfer->arriving) return false;
    if (auto expected = transfer->arriving->expect(m->bytes, m->executable); !expected)
      give_up(TransferId(m->id), expected.error());
    return true;
  }

  bool on(const std::optional<depot::Data>& m) {
    if (!m) return false;
    const auto [transfer, get] = transfers_.find<Get>(TransferId(m->id));
    if (transfer == nullptr) return true;
    if (!transfer->arriving || m->offset != transfer->arriving->bytes() ||
        m->offset > transfer->arriving->expected() ||
        m->bytes.size() > transfer->arriving->expected() - m->offset) {
      return false;
    }
    transfer->bytes += m->bytes.size();
    received_ += m->bytes.size();
    if (auto written = transfer->arriving->write(m->bytes); !written)
      give_up(TransferId(m->id), written.error());
    return true;
  }

  bool on(const std::optional<depot::FileEnd>& m) {
    if (!m) return false;
    const TransferId id(m->id);
    const auto [transfer, get] = transfers_.find<Get>(TransferId(m->id));
    if (transfer == nullptr) return true;
    if (!transfer->arriving) return false;
    if (get->expected && m->content != get->expected->content) {
      if (transfer->arriving->bytes() > transfer->bytes && !std::exchange(transfer->again, true))
        return begin_again(id);  // an earlier part of it may have been of another file
      const std::string why = get->remote + ": is not what it was";
      transfer->arriving->forget();
      transfers_.fail(id, why, {.gone = true});
      return true;
    }
    const auto finished = transfer->arriving->finish(m->content);
    if (!finished) {
      transfers_.fail(id, finished.error().message, {.here = true});
    } else if (*finished) {
      transfers_.succeed(id, clock_.now());
    } else if (!std::exchange(transfer->again, true)) {
      return begin_again(id);
    } else {
      transfers_.fail(id, get->remote + ": changed while it was fetched");
    }
    return true;
  }

  // What is sent.
  // ---------------------------------------------------------------------------------

  /// A problem of our own: the site need not go on.
  void give_up(TransferId id, const Error& error) {
    forget_remotely(id);
    transfers_.fail(id, error.message, {.here = true});
  }

  void send() {
    auto& stream = link_.stream();
    for (std::size_t sent = 0; sent < kMostInAPoll && !stream.wants_to_send();) {
      while (has_more() && stream.outbox().size() < kBatch) {
        announce_some();
        send_piece();
      }
      if (!stream.wants_to_send()) return;
      sent += stream.to_send();
      flush();
    }
  }

  void flush() {
    auto& stream = link_.stream();
    const std::size_t before = stream.to_send();
    if (before == 0) return;
    stream.send();
    sent_ += before - stream.to_send();
    packer_.link().sent(clock_.now(), before - stream.to_send(), stream.wants_to_send());
  }

  /// Requests, with small files, up to about the size of a piece: large files go on in between.
  void announce_some() {
    auto& out = link_.stream().outbox();
    const std::size_t enough = out.size() + kPieceBytes;
    while (out.size() < enough) {
      const auto next = transfers_.next();
      if (!next) return;
      const TransferId id = *next;
      Transfer& transfer = transfers_.at(id);
      if (transfer.begun == kNever) transfer.begun = clock_.now();
      std::visit([&](const auto& what) { announce(id, transfer, what, out); }, transfer.what);
    }
  }

  /// What the site can do without us.
  void announce_last() {
    while (const auto next = transfers_.next()) {
      auto& out = link_.stream().outbox();
      const auto& what = transfers_.at(*next).what;
      if (const auto* drop = std::get_if<Drop>(&what))
        encode(out, FilesMessage::drop, depot::Named{next->value(), drop->content});
      if (const auto* work = std::get_if<RemoveWork>(&what))
        encode(out, depot::Remove{next->value(), work->remote});
    }
  }

  void announce(TransferId id, Transfer& transfer, const Put& put, std::string& out) {
    const auto& [path, content, bytes, executable, staged, from] = put;
    const PutBy way = transfer.way_of(put);
    if (way == PutBy::staging)
      return encode(out, depot::Adopt{id.value(), content, bytes, executable, staged});
    if (way == PutBy::pulling)
      return encode(out, depot::Pull{id.value(), content, bytes, executable, *from});
    if (bytes > kPieceBytes)
      return encode(out, depot::Offer{id.value(), content, bytes, executable});
    const auto file = open_to_send(put);
    if (!file) return transfers_.fail(id, file.error().message);
    const std::size_t at = out.size();
    const auto read =
        encode_read(out, depot::Store{id.value(), content, executable, {}}, file->get(), bytes);
    if (!read) return transfers_.fail(id, path + ": " + std::strerror(errno));
    transfer.bytes += *read;
    pack_frame(out, at, packer_, transfer.packing);
  }
  static void announce(TransferId id, Transfer& transfer, const Get& get, std::string& out) {
    if (!transfer.arriving)
      transfer.arriving = std::make_unique<ArrivingFile>(get.local, get.resume);
    if (get.expected && transfer.arriving->bytes() > get.expected->bytes)
      transfer.arriving->forget();
    encode(out, depot::Fetch{id.value(), get.remote, get.offset, get.length,
                             transfer.arriving->bytes()});
  }
  static void announce(TransferId id, Transfer&, const Drop& drop, std::string& out) {
    encode(out, FilesMessage::drop, depot::Named{id.value(), drop.content});
  }
  static void announce(TransferId id, Transfer&, const Verify& verify, std::string& out) {
    encode(out, FilesMessage::verify, depot::Named{id.value(), verify.content});
  }
  static void announce(TransferId id, Transfer&, const RemoveWork& work, std::string& out) {
    encode(out, depot::Remove{id.value(), work.remote});
  }

  /// The next piece of the first large file.
  void send_piece() {
    if (sending_.empty()) return;
    const TransferId id = sending_.front();
    const auto [transfer, put] = transfers_.find<Put>(id);
    if (transfer == nullptr) return sending_.pop_front();
    if (!transfer->fd) {
      auto file = open_to_send(*put);
      if (!file) {
        sending_.pop_front();
        return give_up(id, file.error());
      }
      transfer->fd = std::move(*file);
    }
    const auto most = static_cast<std::size_t>(
        std::min<std::uint64_t>(kPieceBytes, put->bytes - transfer->offset));
    auto& out = link_.stream().outbox();
    const std::size_t at = out.size();
    const auto read = encode_read(out, depot::Data{id.value(), transfer->offset, {}},
                                  transfer->fd.get(), transfer->offset, most);
    if (!read || *read < most) {
      sending_.pop_front();
      const Error error{ErrorCode::io,
                        put->path + (read ? ": became shorter while it was sent"
                                          : std::string(": ") + std::strerror(errno)),
                        {}};
      return give_up(id, error);
    }
    pack_frame(out, at, packer_, transfer->packing);
    transfer->bytes += *read;
    transfer->offset += *read;
    if (transfer->offset == put->bytes) {
      transfer->fd.reset();
      sending_.pop_front();
    }
  }

  static constexpr const char* kNotUnderstood =
      "what the remote side sends is not our protocol (does its shell print something when it "
      "starts?)";

  StreamMoverOptions options_;
  MonotonicClock clock_;
  SiteLink link_;
  depot::Packer packer_;
  depot::Unpacker unpacker_;
  bool greeted_ = false;       ///< on this connection
  bool greeted_once_ = false;  ///< and its inventory told
  std::optional<Error> fatal_;
  Inventory inventory_;  ///< as far as it has come
  std::vector<Inventory> inventories_;
  TransferTable transfers_;
  std::deque<TransferId> sending_;  ///< large files that the site waits for
  std::uint64_t sent_ = 0;          ///< bytes, over all connections
  std::uint64_t received_ = 0;      ///< of files
  std::uint64_t pulled_ = 0;        ///< of files that came from other sites
};

}  // namespace

std::unique_ptr<Mover> make_stream_mover(StreamMoverOptions options) {
  return std::make_unique<StreamMover>(std::move(options));
}

}  // namespace gantry
