// What a site says to its mover, and what comes of it.
#include <fmt/format.h>

#include <utility>

#include "actuate/move/stream_mover_impl.hpp"

namespace gantry {

using depot::FilesMessage;

namespace {

/// A site that claims to have more files is not believed.
constexpr std::size_t kMostFiles = 4'000'000;

}  // namespace

bool StreamMover::take(FilesMessage type, std::string_view body) {
  switch (type) {
    case FilesMessage::welcome:
      return on(decode<depot::FilesWelcome>(body));
    case FilesMessage::inventory:
      return on(decode<depot::InventoryPart>(body));
    case FilesMessage::send_from:
      return on(decode<depot::SendFrom>(body));
    case FilesMessage::done:
      return on(decode<depot::Numbered>(body));
    case FilesMessage::failed:
      return on(decode<depot::Failed>(body));
    case FilesMessage::file:
      return on(decode<depot::FileHead>(body));
    case FilesMessage::data_packed:
      return on(depot::decode_packed<depot::Data>(body, unpacker_));
    case FilesMessage::data:
      return on(decode<depot::Data>(body));
    case FilesMessage::end:
      return on(decode<depot::FileEnd>(body));
    case FilesMessage::echoed:
      return on(decode<depot::Echoed>(body));
    case FilesMessage::refused:
      return on(decode<depot::Refused>(body));
    case FilesMessage::alive:
      return greeted_ && body.empty();
    default:
      return false;
  }
}

bool StreamMover::on(const std::optional<depot::FilesWelcome>& m) {
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

bool StreamMover::on(const std::optional<depot::InventoryPart>& m) {
  if (!m || !greeted_ || inventory_.files.size() + m->files.size() > kMostFiles) return false;
  inventory_.files.insert(inventory_.files.end(), m->files.begin(), m->files.end());
  if (!m->last) return true;
  greeted_once_ = true;
  inventories_.push_back(std::exchange(inventory_, {}));
  return true;
}

bool StreamMover::on(const std::optional<depot::Refused>& m) {
  if (!m) return false;
  lose_link("the remote side says: " + m->why);
  return true;
}

bool StreamMover::on(const std::optional<depot::SendFrom>& m) {
  if (!m) return false;
  const auto [transfer, put] = transfers_.find<Put>(TransferId(m->id));
  if (transfer == nullptr) return true;
  if (m->offset > put->bytes || transfer->fd) return false;
  transfer->offset = m->offset;
  transfer->resumed = m->offset > 0;
  if (m->offset < put->bytes) sending_.emplace_back(m->id);
  return true;
}

bool StreamMover::on(const std::optional<depot::Numbered>& done) {
  if (!done) return false;
  const TransferId id(done->id);
  if (!transfers_.contains(id)) return true;
  if (std::holds_alternative<Get>(transfers_.at(id).what)) return false;
  const auto [transfer, put] = transfers_.find<Put>(id);
  if (transfer != nullptr && transfer->way_of(*put) == PutBy::pulling) pulled_ += put->bytes;
  transfers_.succeed(id, clock_.now());
  return true;
}

bool StreamMover::on(const std::optional<depot::Failed>& m) {
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
    transfers_.fail(id, put->path + ": changed while it was sent: what arrived is not its content");
  } else if (transfers_.contains(id)) {
    transfers_.fail(id, m->why, {.gone = m->problem == depot::FilesProblem::gone});
  }
  return true;
}

bool StreamMover::begin_again(TransferId id) {
  Transfer& transfer = transfers_.at(id);
  transfer.fd.reset();
  if (transfer.arriving) transfer.arriving->forget();
  transfers_.announce_again(id);
  return true;
}

bool StreamMover::on(const std::optional<depot::FileHead>& m) {
  if (!m) return false;
  const auto [transfer, get] = transfers_.find<Get>(TransferId(m->id));
  if (transfer == nullptr) return true;
  if (m->bytes > get->length || !transfer->arriving) return false;
  if (auto expected = transfer->arriving->expect(m->bytes, m->executable); !expected)
    give_up(TransferId(m->id), expected.error());
  return true;
}

bool StreamMover::on(const std::optional<depot::Data>& m) {
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

bool StreamMover::on(const std::optional<depot::FileEnd>& m) {
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

}  // namespace gantry
