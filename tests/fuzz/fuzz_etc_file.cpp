/// Any bytes as a matrix of times: an error that names the file, or a matrix of finite times.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulate/etc/etc_file.hpp"

namespace {

void check(const gantry::Result<gantry::simulate::EtcMatrix>& matrix) {
  if (!matrix) {
    if (!matrix.error().message.starts_with("fuzz:")) std::abort();
    return;
  }
  if (matrix->times().size() != matrix->tasks() * matrix->machines()) std::abort();
  for (const double time : matrix->times())
    if (!std::isfinite(time) || time < 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(gantry::simulate::parse_etc_braun(text, "fuzz"));
  check(gantry::simulate::parse_etc_csv(text, "fuzz"));
  return 0;
}
