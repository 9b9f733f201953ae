// A LearnedMemory as JSON: its model, and how wrong its last guesses were.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "forecast/learned_memory.hpp"

namespace gantry::forecast {

namespace {
constexpr int kMemoryVersion = 1;
/// More than the longest text that to_text() writes: that of a model, escaped once more.
constexpr std::size_t kMostMemoryText = 32 << 20;

tl::unexpected<Error> damaged_memory(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("stored memory of tasks is damaged: {}", what));
}
}  // namespace

std::string LearnedMemory::to_text() const {
  // The oldest first.
  std::vector<double> guesses;
  for (std::size_t i = 0; i < guesses_.size(); ++i)
    guesses.push_back(guesses_[(next_guess_ + i) % guesses_.size()]);
  return nlohmann::json{{"version", kMemoryVersion},
                        {"guesses", guesses},
                        {"wanted", wanted_},
                        {"model", model_.to_text()}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<LearnedMemory> LearnedMemory::from_text(std::string_view text) {
  if (text.size() > kMostMemoryText) return damaged_memory("it is too long");
  const auto whole = nlohmann::json::parse(text, nullptr, false);
  if (!whole.is_object()) return damaged_memory("it is no JSON object");
  if (!whole.contains("version") || !whole["version"].is_number_integer())
    return damaged_memory("it has no version");
  if (whole["version"] != kMemoryVersion)
    return fail(ErrorCode::version, "stored memory of tasks is of another version of gantry");
  if (!whole.contains("guesses") || !whole["guesses"].is_array() || !whole.contains("model") ||
      !whole["model"].is_string())
    return damaged_memory("it does not say what it has seen");
  LearnedMemory memory;
  for (const auto& guess : whole["guesses"]) {
    const double part = guess.is_number() ? guess.get<double>() : -1;
    if (!(part >= 0) || !std::isfinite(part) || memory.guesses_.size() == kGuesses)
      return damaged_memory("a guess makes no sense");
    memory.guesses_.push_back(part);
  }
  memory.next_guess_ = memory.guesses_.size();
  if (const auto wanted = whole.find("wanted"); wanted != whole.end()) {
    constexpr std::uint64_t kMostWanted = std::uint64_t{1} << 47U;
    if (!wanted->is_number_unsigned() || wanted->get<std::uint64_t>() > kMostWanted)
      return damaged_memory("what one wanted makes no sense");
    memory.wanted_ = wanted->get<std::uint64_t>();
  }
  TRY_ASSIGN(memory.model_, RunTimeModel::from_text(whole["model"].get<std::string>()));
  memory.model_.age();
  memory.refresh();
  return memory;
}

}  // namespace gantry::forecast
