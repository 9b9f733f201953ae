#include "driver/attempt_results.hpp"

#include "driver/packed_output.hpp"

namespace gantry::driver {

namespace {
constexpr std::size_t kMaxSearched = std::size_t{64} << 20;  ///< of a task's output
}  // namespace

void read_results(const std::filesystem::path& state_dir, const Application& application,
                  AttemptEnded& ended, const ResultValues& known) {
  if (ended.report.cause != FailureCause::none) return;
  const auto give_up = [&](Error error) {
    ended.report.cause = FailureCause::missing_result;
    ended.report.detail = std::move(error.message);
  };
  const Sweep& sweep = application.at(ended.report.key.task);
  Result<std::string> packed;
  std::string_view text = ended.report.out.text;
  if (sweep.reads_stdout() && !ended.report.out.pack.empty()) {
    packed = whole_output(state_dir, ended.report.out, kMaxSearched);
    if (!packed) return give_up(std::move(packed).error());
    text = *packed;
  }
  auto values = sweep.extract(ended.report, text, known);
  if (!values) return give_up(std::move(values).error());
  ended.results = std::move(*values);
}

}  // namespace gantry::driver
