#include "store/batch_rows.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/codec.hpp"
#include "store/json_text.hpp"

namespace gantry::store {

namespace {

std::optional<std::uint32_t> read_number(const nlohmann::json& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) return std::nullopt;
  return value.get<std::uint32_t>();
}

bool read_number(const nlohmann::json& object, const char* name, std::uint32_t& number) {
  const auto found = object.find(name);
  const auto value = found == object.end() ? std::nullopt : read_number(*found);
  if (value) number = *value;
  return value.has_value();
}

nlohmann::json order_json(const PointOrder& order) {
  auto ranges = nlohmann::json::array();
  for (const PointRange& range : order) ranges.push_back({range.first, range.count});
  return ranges;
}

bool read_ranges(const nlohmann::json& ranges, PointOrder& order) {
  order.clear();
  if (!ranges.is_array()) return false;
  for (const auto& range : ranges) {
    if (!range.is_array() || range.size() != 2) return false;
    const auto first = read_number(range[0]);
    const auto count = read_number(range[1]);
    if (!first || !count) return false;
    order.push_back({*first, *count});
  }
  return true;
}

std::optional<EnumeratedPoints> read_enumerated(const nlohmann::json& object) {
  EnumeratedPoints points;
  const auto sweep = object.find("sweep");
  const auto order = object.find("points");
  if (sweep == object.end() || !sweep->is_string() || order == object.end()) return std::nullopt;
  const auto digest = Digest::from_hex(sweep->get<std::string>());
  if (!digest || !read_ranges(*order, points.order)) return std::nullopt;
  points.sweep = *digest;
  return points;
}

std::optional<ListedPoints> read_listed(std::string_view exact) {
  ListedPoints points;
  Decoder in(exact);
  for (std::uint32_t left = in.count(sizeof(std::uint32_t)); left > 0; --left) {
    auto row = unframe_words(in.str());
    if (!in.ok() || !row) return std::nullopt;
    points.rows.push_back(std::move(*row));
  }
  return in.ok() && in.at_end() ? std::optional(std::move(points)) : std::nullopt;
}

}  // namespace

void write_batch(const TasksAdded& event, std::string& data, std::string& exact) {
  const Batch& batch = event.batch;
  nlohmann::json object{{"node", batch.node.value()},
                        {"iteration", batch.iteration},
                        {"first", batch.first.value()},
                        {"count", batch.count}};
  exact.clear();
  if (const auto* points = std::get_if<EnumeratedPoints>(&event.points)) {
    object["sweep"] = points->sweep.hex();
    object["points"] = order_json(points->order);
  } else {
    const auto& rows = std::get<ListedPoints>(event.points).rows;
    Encoder out(exact);
    out.u32(static_cast<std::uint32_t>(rows.size()));
    std::string framed;
    for (const auto& row : rows) {
      framed.clear();
      frame_words(row, framed);
      out.str(framed);
    }
  }
  data = object.dump();
}

bool read_batch(std::string_view data, std::string_view exact, Batch& batch, Points& points) {
  const nlohmann::json object = nlohmann::json::parse(data, nullptr, false);
  std::uint32_t node = 0;
  std::uint32_t first = 0;
  const bool known = object.is_object() && read_number(object, "node", node) &&
                     read_number(object, "iteration", batch.iteration) &&
                     read_number(object, "first", first) &&
                     read_number(object, "count", batch.count);
  if (!known || first == 0) return false;
  batch.node = NodeId(node);
  batch.first = TaskId(first);
  if (exact.empty()) {
    auto enumerated = read_enumerated(object);
    if (enumerated) points = std::move(*enumerated);
    return enumerated.has_value();
  }
  auto listed = read_listed(exact);
  if (listed) points = std::move(*listed);
  return listed.has_value();
}

std::string order_text(const PointOrder& order) {
  return order.empty() ? "" : order_json(order).dump();
}

bool read_order(std::string_view text, PointOrder& order) {
  order.clear();
  return text.empty() || read_ranges(nlohmann::json::parse(text, nullptr, false), order);
}

}  // namespace gantry::store
