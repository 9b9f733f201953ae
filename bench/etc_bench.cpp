// How close the classic heuristics and the optimiser come to the lower bound:
//
//     etc_bench SECONDS FILE...        instances (docs/formats/etc.md)
//     etc_bench SECONDS CLASS:SEED...  generated, 512 tasks on 16 machines: u_c_hihi:1

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "simulate/etc/etc_file.hpp"
#include "simulate/etc/etc_generator.hpp"
#include "simulate/etc/etc_heuristics.hpp"
#include "simulate/etc/etc_optimizer.hpp"

namespace gantry::simulate {
namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Result<EtcMatrix> instance(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return load_etc(name);
  TRY_ASSIGN(const EtcClass etc_class, parse_class(name.substr(0, colon)));
  return generate_etc(etc_class, 512, 16, std::strtoull(&name[colon + 1], nullptr, 10));
}

int run(double seconds, const std::string& name) {
  const auto matrix = instance(name);
  if (!matrix) {
    fmt::print(stderr, "{}\n", matrix.error().message);
    return 2;
  }
  fmt::print("| {} |", name.substr(name.rfind('/') + 1));
  for (const EtcHeuristic heuristic : kEtcHeuristics)
    fmt::print(" {:.3f} |", makespan(*matrix, apply_heuristic(heuristic, *matrix)));
  const double begin = cpu_seconds();
  const auto found =
      optimize_etc(*matrix, {.stop = [=] { return cpu_seconds() - begin >= seconds; }});
  fmt::print(" {:.3f} | {:.3f} | {:.3f} % |\n", found.bound, found.makespan,
             100 * (found.makespan / found.bound - 1));
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace gantry::simulate

int main(int argc, char** argv) {
  fmt::print("| instance |");
  for (const auto heuristic : gantry::simulate::kEtcHeuristics)
    fmt::print(" {} |", gantry::simulate::heuristic_name(heuristic));
  fmt::print(" bound | optimiser | above the bound |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
  for (int i = 2; i < argc; ++i)
    if (const int code = gantry::simulate::run(std::strtod(argv[1], nullptr), argv[i])) return code;
  return 0;
}
