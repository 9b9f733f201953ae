#pragma once
/// Seeded ETC matrices of the twelve classes of Braun et al. (2001), by their range-based method: a
/// task's size is uniform in [1, B), its time on a machine the size times a number uniform in [1,
/// M), where B is 3000 or 100 and M is 1000 or 10. Pure functions; the same seed gives the same
/// matrix everywhere.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "simulate/etc/etc_matrix.hpp"

namespace gantry::simulate {

/// Consistent: a machine that is faster for one task is faster for all (every row is sorted).
/// Semi-consistent: so are the machines 0, 2, 4 ... among themselves.
enum class EtcConsistency : std::uint8_t { consistent, inconsistent, semi_consistent };

struct EtcClass {
  EtcConsistency consistency = EtcConsistency::consistent;
  bool high_tasks = true;     ///< heterogeneity of the tasks
  bool high_machines = true;  ///< and of the machines
  friend bool operator==(const EtcClass&, const EtcClass&) = default;
};

/// "u_c_hihi": uniform, c, i or s, then tasks and machines, each hi or lo.
std::string class_name(const EtcClass& etc_class);
/// Error usage, with the names there are, when it is none of them.
Result<EtcClass> parse_class(std::string_view name);
std::vector<EtcClass> all_etc_classes();

/// REQUIRES: EtcMatrix::size_problem(tasks, machines) finds none.
EtcMatrix generate_etc(const EtcClass& etc_class, std::size_t tasks, std::size_t machines,
                       std::uint64_t seed);

}  // namespace gantry::simulate
