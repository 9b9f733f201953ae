#pragma once
/// Baselines that deal tasks out to hosts without looking at how busy or how fast these are: in
/// turn, or by chance. A host works off what it was dealt; when hosts come or go, what was not
/// handed over is dealt anew.

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "schedule/scheduler.hpp"

namespace gantry::schedule {

enum class Deal : std::uint8_t { in_turn, by_chance };

class Dealt final : public Scheduler {
 public:
  Dealt(Deal deal, std::uint64_t seed) : deal_(deal), random_(seed) {}

  void observe(const Event& event) override;
  [[nodiscard]] Plan plan(const World& world) override;

 private:
  void deal_new(const World& world);
  /// A host on which such tasks fit; nullptr if there is none.
  [[nodiscard]] const Host* next_host(const World& world, const TaskNeeds& needs);

  Deal deal_;
  std::mt19937_64 random_;
  std::size_t turn_ = 0;
  bool deal_anew_ = false;
  bool barred_ = false;  ///< some file at some site, when it was asked before
  std::map<HostId, std::deque<ClassId>> queues_;
  std::map<ClassId, std::size_t> dealt_;  ///< and not handed over
};

}  // namespace gantry::schedule
