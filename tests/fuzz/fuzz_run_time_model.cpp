/// Any bytes as a stored run-time model: an error, or a model that predicts finite numbers in order
/// and that can be written and read again.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "forecast/run_time_model.hpp"

namespace {

using gantry::forecast::Features;
using gantry::forecast::RunTimeModel;

void check(const RunTimeModel& model, const Features& task) {
  const auto said = model.predict(task);
  if (!said) return;
  if (!std::isfinite(said->value) || !std::isfinite(said->high)) std::abort();
  if (!(0 <= said->low && said->low <= said->value && said->value <= said->high)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = RunTimeModel::from_text(text);
  if (!model) {
    if (model.error().message.empty()) std::abort();
    return 0;
  }
  check(*model, {});
  check(*model, {2.0});
  check(*model, {2.0, std::string("a")});
  check(*model, {std::string("a"), -1e50, 0.0});
  const auto again = RunTimeModel::from_text(model->to_text());
  if (!again || again->observations() != model->observations()) std::abort();
  return 0;
}
