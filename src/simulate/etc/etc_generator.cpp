#include "simulate/etc/etc_generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/chance.hpp"

namespace gantry::simulate {

namespace {

/// The standard fixes what the engine gives, but not what its distributions make of it.
double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * unit_of(random());
}

/// Sorts every step-th number, beginning with the first.
void sort_every(std::size_t step, std::span<double> row) {
  std::vector<double> picked;
  for (std::size_t i = 0; i < row.size(); i += step) picked.push_back(row[i]);
  std::sort(picked.begin(), picked.end());
  for (std::size_t i = 0; i < row.size(); i += step) row[i] = picked[i / step];
}

}  // namespace

std::string class_name(const EtcClass& etc_class) {
  constexpr std::string_view kLetters = "cis";
  return fmt::format("u_{}_{}{}", kLetters[static_cast<std::size_t>(etc_class.consistency)],
                     etc_class.high_tasks ? "hi" : "lo", etc_class.high_machines ? "hi" : "lo");
}

std::vector<EtcClass> all_etc_classes() {
  std::vector<EtcClass> all;
  for (const auto consistency :
       {EtcConsistency::consistent, EtcConsistency::inconsistent, EtcConsistency::semi_consistent})
    for (const bool tasks : {true, false})
      for (const bool machines : {true, false}) all.push_back({consistency, tasks, machines});
  return all;
}

Result<EtcClass> parse_class(std::string_view name) {
  std::string known;
  for (const EtcClass& etc_class : all_etc_classes()) {
    const std::string its_name = class_name(etc_class);
    if (its_name == name) return etc_class;
    known += (known.empty() ? "" : ", ") + its_name;
  }
  return fail(ErrorCode::usage, fmt::format("there is no class '{}'", name), "known: " + known);
}

EtcMatrix generate_etc(const EtcClass& etc_class, std::size_t tasks, std::size_t machines,
                       std::uint64_t seed) {
  const double size_range = etc_class.high_tasks ? 3000 : 100;
  const double machine_range = etc_class.high_machines ? 1000 : 10;
  std::mt19937_64 random(seed);
  std::vector<double> times(tasks * machines);
  for (std::size_t task = 0; task < tasks; ++task) {
    const double size = uniform(random, 1, size_range);
    const auto row = std::span(times).subspan(task * machines, machines);
    for (double& time : row) time = size * uniform(random, 1, machine_range);
    if (etc_class.consistency == EtcConsistency::consistent) sort_every(1, row);
    if (etc_class.consistency == EtcConsistency::semi_consistent) sort_every(2, row);
  }
  return EtcMatrix::make(tasks, machines, std::move(times)).value();
}

}  // namespace gantry::simulate
