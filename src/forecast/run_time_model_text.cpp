// A RunTimeModel as JSON: the tasks it keeps. What follows from them is calculated again.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "forecast/run_time_model.hpp"

namespace gantry::forecast {

namespace {

using nlohmann::json;

constexpr int kTextVersion = 1;
/// More than the longest text that to_text() writes: all words of six-byte escapes.
constexpr std::size_t kMostText = 8 << 20;
/// Numbers up to here are exact in every reader of JSON.
constexpr std::uint64_t kMostSeen = std::uint64_t{1} << 53;

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("a stored run-time model is damaged: {}", what));
}

/// The parameters of a row, whose first item is the value.
std::optional<Features> features_of(const json& row) {
  Features task;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i].is_number()) {
      task.emplace_back(row[i].get<double>());
    } else if (row[i].is_string()) {
      task.emplace_back(row[i].get<std::string>());
    } else {
      return std::nullopt;
    }
  }
  return task;
}

}  // namespace

std::string RunTimeModel::to_text() const {
  json rows = json::array();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    json row = json::array({values_[i]});
    for (const Feature& feature : tasks_[i])
      std::visit([&](const auto& one) { row.push_back(one); }, feature);
    rows.push_back(std::move(row));
  }
  const json whole{{"version", kTextVersion}, {"seen", seen_}, {"tasks", std::move(rows)}};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<RunTimeModel> RunTimeModel::from_text(std::string_view text) {
  if (text.size() > kMostText) return damaged("it is too long");
  const json whole = json::parse(text, nullptr, false);
  if (!whole.is_object()) return damaged("it is no JSON object");
  if (!whole.contains("version") || !whole["version"].is_number_integer())
    return damaged("it has no version");
  if (whole["version"] != kTextVersion)
    return fail(ErrorCode::version, "a stored run-time model is of another version of gantry");
  if (!whole.contains("seen") || !whole["seen"].is_number_unsigned() || !whole.contains("tasks") ||
      !whole["tasks"].is_array())
    return damaged("it does not say what it has seen");
  const json& rows = whole["tasks"];
  const auto seen = whole["seen"].get<std::uint64_t>();
  if (rows.size() > kKept || seen < rows.size() || seen > kMostSeen || (seen > 0 && rows.empty()))
    return damaged("it has more or fewer tasks than it says");
  RunTimeModel model;
  for (const json& row : rows) {
    if (!row.is_array() || row.empty() || !row[0].is_number())
      return damaged("a task has no value");
    const auto task = features_of(row);
    if (!task || task->size() > kMostFeatures)
      return damaged("a parameter is neither a number nor a word");
    // Not one fit after the other: they would all be thrown away.
    model.next_fit_ = kMostSeen + 1;
    if (!model.observe(*task, row[0].get<double>()))
      return damaged("a task cannot be calculated with");
  }
  model.seen_ = seen;
  if (seen > 0) model.fit();
  return model;
}

}  // namespace gantry::forecast
