/// Any bytes as a trace file (the first one chooses the format): an error that names the file, or a
/// trace whose integral and its inverse agree.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulate/trace_file.hpp"

namespace {

using namespace gantry;
using namespace gantry::simulate;

void check(const Trace& trace) {
  if (trace.steps().back().time > 1e9) return;  // there a second is lost in the rounding
  for (const double from : {0.0, 1.5, 1e6}) {
    const double amount = trace.integral(from, from + 1000);
    if (!(amount >= 0)) std::abort();
    const double done = trace.when_done(from, amount);
    // May lie a pause later than from + 1000: the last bit of the amount may want it.
    if (!(done >= from)) std::abort();
    if (done < kForever && std::abs(trace.integral(from, done) - amount) > 1e-6 * amount)
      std::abort();
  }
}

template <class T, class Use>
void look(const Result<T>& read, Use use) {
  if (read) return use(*read);
  if (!read.error().message.starts_with("fuzz:")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
    case 1:
      look(parse_trace_csv(text, "fuzz"), check);
      break;
    case 2:
      look(parse_bandwidth(text, "fuzz"), check);
      break;
    default:
      look(parse_planetlab(text, "fuzz"), [](const std::vector<HostTrace>& hosts) {
        for (const HostTrace& host : hosts) check(host.availability);
      });
  }
  return 0;
}
