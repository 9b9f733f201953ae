#include "actuate/move/transfer_table.hpp"

namespace gantry {

namespace {

/// Of what must not overtake another that concerns the same content.
const Digest* content_in_order(const Transfer& transfer) {
  if (const auto* put = std::get_if<Put>(&transfer.what)) return &put->content;
  if (const auto* drop = std::get_if<Drop>(&transfer.what)) return &drop->content;
  return nullptr;
}

}  // namespace

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
    const Digest* content = content_in_order(transfer);
    if (content == nullptr || same_content_.at(*content).front() == id) queue_.push_back(id);
  }
}

Transfer TransferTable::take_out(TransferId id, bool done) {
  const auto found = transfers_.find(id);
  Transfer transfer = std::move(found->second);
  transfers_.erase(found);
  if (std::holds_alternative<Put>(transfer.what)) --puts_;
  const Digest* content = content_in_order(transfer);
  if (content == nullptr) return transfer;
  const auto entry = same_content_.find(*content);
  auto& same = entry->second;
  const TransferId first = same.front();
  std::erase(same, id);
  const auto is_put = [](const Transfer& t) { return std::holds_alternative<Put>(t.what); };
  while (done && is_put(transfer) && !same.empty() && is_put(transfers_.at(same.front()))) {
    events_.emplace_back(TransferDone{same.front(), 0, 0});
    transfers_.erase(same.front());
    --puts_;
    same.pop_front();
  }
  if (same.empty()) {
    same_content_.erase(entry);
  } else if (same.front() != first) {
    queue_.push_back(same.front());
  }
  return transfer;
}

void TransferTable::succeed(TransferId id, TimePoint now) {
  const Transfer transfer = take_out(id, true);
  const double took = transfer.begun == kNever ? 0 : seconds(now - transfer.begun);
  events_.emplace_back(TransferDone{id, transfer.bytes, took});
}

void TransferTable::fail(TransferId id, std::string why, Why more) {
  take_out(id, false);
  events_.emplace_back(
      TransferFailed{id, std::move(why), more.lost_connection, more.gone, more.here});
}

void TransferTable::fail_all(const std::string& why) {
  while (!transfers_.empty()) fail(transfers_.begin()->first, why);
}

void TransferTable::fail_asked_before(TimePoint time, const std::string& why) {
  std::vector<TransferId> late;
  for (const auto& [id, transfer] : transfers_)
    if (transfer.asked <= time) late.push_back(id);
  for (const TransferId id : late) fail(id, why, {.lost_connection = true});
}

void TransferTable::clear() {
  transfers_.clear();
  puts_ = 0;
  same_content_.clear();
  queue_.clear();
}

}  // namespace gantry
