#include "actuate/move/transfer_table.hpp"

namespace gantry {

std::optional<TransferId> TransferTable::next() {
  while (!queue_.empty()) {
    const TransferId id = queue_.front();
    queue_.pop_front();
    if (transfers_.contains(id)) return id;
  }
  return std::nullopt;
}

void TransferTable::announce_all_again() {
  queue_.clear();
  for (auto& [id, transfer] : transfers_) {
    transfer.fd.reset();
    const auto* put = std::get_if<Put>(&transfer.what);
    if (put == nullptr || same_content_.at(put->content).front() == id) queue_.push_back(id);
  }
}

/// Others that put the same content have it too, or are next to try.
Transfer TransferTable::take_out(TransferId id, bool done) {
  const auto found = transfers_.find(id);
  Transfer transfer = std::move(found->second);
  transfers_.erase(found);
  const auto* put = std::get_if<Put>(&transfer.what);
  if (put == nullptr) return transfer;
  const auto entry = same_content_.find(put->content);
  auto& same = entry->second;
  const bool was_first = same.front() == id;
  std::erase(same, id);
  if (done) {
    for (const TransferId other : std::exchange(same, {})) {
      transfers_.erase(other);
      events_.push_back(TransferDone{other, 0, 0});
    }
  }
  if (same.empty()) {
    same_content_.erase(entry);
  } else if (was_first) {
    queue_.push_back(same.front());
  }
  return transfer;
}

void TransferTable::succeed(TransferId id, TimePoint now) {
  const Transfer transfer = take_out(id, true);
  const double took = transfer.begun == kNever ? 0 : seconds(now - transfer.begun);
  events_.push_back(TransferDone{id, transfer.bytes, took});
}

void TransferTable::fail(TransferId id, std::string why, bool lost_connection) {
  take_out(id, false);
  events_.push_back(TransferFailed{id, std::move(why), lost_connection});
}

void TransferTable::fail_all(const std::string& why) {
  while (!transfers_.empty()) fail(transfers_.begin()->first, why);
}

void TransferTable::fail_asked_before(TimePoint time, const std::string& why) {
  std::vector<TransferId> late;
  for (const auto& [id, transfer] : transfers_)
    if (transfer.asked <= time) late.push_back(id);
  for (const TransferId id : late) fail(id, why, true);
}

void TransferTable::clear() {
  transfers_.clear();
  same_content_.clear();
  queue_.clear();
}

}  // namespace gantry
