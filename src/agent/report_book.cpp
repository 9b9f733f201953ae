#include "agent/report_book.hpp"

#include <utility>

#include "agent/slot_log.hpp"
#include "base/time.hpp"

namespace gantry::agent {

std::string unrun_report(const Started& started, Cause cause, const std::string& detail) {
  Ended ended;
  ended.key = started.key;
  ended.cause = static_cast<std::uint8_t>(cause);
  ended.detail = detail;
  ended.ended_ns = to_ns(RealClock{}.now());
  ended.started_ns = started.started_ns != 0 ? started.started_ns : ended.ended_ns;
  return ended_body(ended);
}

const ReportBook::Report& ReportBook::add(std::size_t slot, std::string body, Kept kept) {
  if (slot != kNoSlot) {
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    ++slots_[slot].reports;
  }
  if (kept == Kept::nowhere) ++memory_only_;
  return reports_.emplace_back(Report{next_receipt_++, slot, std::move(body), kept});
}

void ReportBook::acknowledge(std::uint64_t receipt) {
  while (!reports_.empty() && reports_.front().receipt <= receipt) {
    const Report& report = reports_.front();
    if (report.slot != kNoSlot) ++slots_[report.slot].safe;
    if (report.kept == Kept::nowhere) --memory_only_;
    reports_.pop_front();
  }
}

ReportBook::SlotCount ReportBook::count(std::size_t slot) const {
  return slot < slots_.size() ? slots_[slot] : SlotCount{};
}

Result<> ReportBook::save(const std::filesystem::path& path) {
  std::vector<std::string> bodies;
  for (const auto& report : reports_) {
    if (report.kept == Kept::nowhere || report.kept == Kept::in_own_file)
      bodies.push_back(report.body);
  }
  TRY(write_slot_log(path, bodies));
  for (auto& report : reports_) {
    if (report.kept == Kept::nowhere) report.kept = Kept::in_own_file;
  }
  memory_only_ = 0;
  return {};
}

}  // namespace gantry::agent
