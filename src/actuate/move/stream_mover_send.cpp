// What a mover says to its site: requests, and the files that it puts there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "actuate/move/stream_mover_impl.hpp"

namespace gantry {

using depot::FilesMessage;
using depot::kPieceBytes;

namespace {

/// What is made ready to be sent at once, and what is sent in one poll() at the most.
constexpr std::size_t kBatch = std::size_t{512} << 10;
constexpr std::size_t kMostSent = std::size_t{8} << 20;

/// Opens the file; an error when it is not a plain file of the size that was announced.
Result<UniqueFd> open_to_send(const Put& put) {
  TRY_ASSIGN(UniqueFd file, open_file(put.path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(put.path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::io, put.path + ": is not a plain file");
  if (static_cast<std::uint64_t>(info.st_size) == put.bytes) return file;
  return fail(ErrorCode::io, fmt::format("{}: changed before it was sent: it has {} bytes, not {}",
                                         put.path, info.st_size, put.bytes));
}

}  // namespace

void StreamMover::give_up(TransferId id, const Error& error) {
  forget_remotely(id);
  transfers_.fail(id, error.message, {.here = true});
}

void StreamMover::send() {
  auto& stream = link_.stream();
  for (std::size_t sent = 0; sent < kMostSent && !stream.wants_to_send();) {
    while (has_more() && stream.outbox().size() < kBatch) {
      announce_some();
      send_piece();
    }
    if (!stream.wants_to_send()) return;
    sent += stream.to_send();
    flush();
  }
}

void StreamMover::flush() {
  auto& stream = link_.stream();
  const std::size_t before = stream.to_send();
  if (before == 0) return;
  stream.send();
  const std::size_t sent = before - stream.to_send();
  const std::size_t echo = std::min(sent, echo_left_);
  echo_left_ -= echo;
  sent_ += sent - echo;
  packer_.link().sent(clock_.now(), before - stream.to_send(), stream.wants_to_send());
}

void StreamMover::announce_some() {
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

void StreamMover::announce_last() {
  while (const auto next = transfers_.next()) {
    auto& out = link_.stream().outbox();
    const auto& what = transfers_.at(*next).what;
    if (const auto* drop = std::get_if<Drop>(&what))
      encode(out, FilesMessage::drop, depot::Named{next->value(), drop->content});
    if (const auto* work = std::get_if<RemoveWork>(&what))
      encode(out, depot::Remove{next->value(), work->remote});
  }
}

void StreamMover::announce(TransferId id, Transfer& transfer, const Put& put, std::string& out) {
  const auto& [path, content, bytes, executable, staged, from] = put;
  const PutBy way = transfer.way_of(put);
  if (way == PutBy::staging)
    return encode(out, depot::Adopt{id.value(), content, bytes, executable, staged});
  if (way == PutBy::pulling)
    return encode(out, depot::Pull{id.value(), content, bytes, executable, *from});
  if (bytes > kPieceBytes) return encode(out, depot::Offer{id.value(), content, bytes, executable});
  const auto file = open_to_send(put);
  if (!file) return transfers_.fail(id, file.error().message);
  const std::size_t at = out.size();
  const auto read =
      encode_read(out, depot::Store{id.value(), content, executable, {}}, file->get(), bytes);
  if (!read) return transfers_.fail(id, path + ": " + std::strerror(errno));
  transfer.bytes += *read;
  pack_frame(out, at, packer_, transfer.packing);
}

void StreamMover::announce(TransferId id, Transfer& transfer, const Get& get, std::string& out) {
  if (!transfer.arriving) transfer.arriving = std::make_unique<ArrivingFile>(get.local, get.resume);
  if (get.expected && transfer.arriving->bytes() > get.expected->bytes) transfer.arriving->forget();
  encode(out,
         depot::Fetch{id.value(), get.remote, get.offset, get.length, transfer.arriving->bytes()});
}

void StreamMover::announce(TransferId id, Transfer&, const Drop& drop, std::string& out) {
  encode(out, FilesMessage::drop, depot::Named{id.value(), drop.content});
}

void StreamMover::announce(TransferId id, Transfer&, const Verify& verify, std::string& out) {
  encode(out, FilesMessage::verify, depot::Named{id.value(), verify.content});
}

void StreamMover::announce(TransferId id, Transfer&, const RemoveWork& work, std::string& out) {
  encode(out, depot::Remove{id.value(), work.remote});
}

void StreamMover::send_piece() {
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
  const auto most =
      static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, put->bytes - transfer->offset));
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

}  // namespace gantry
