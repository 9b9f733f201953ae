#include "actuate/launch/output_note.hpp"

#include "actuate/launch/task_wire.hpp"
#include "base/codec.hpp"

namespace gantry {

namespace {

void put_paths(Encoder& encoder, const std::vector<std::string>& paths) {
  encoder.u32(static_cast<std::uint32_t>(paths.size()));
  for (const auto& path : paths) encoder.str(path);
}

std::vector<std::string> get_paths(Decoder& decoder) {
  std::vector<std::string> paths(decoder.count(sizeof(std::uint32_t)));
  for (auto& path : paths) path = decoder.str();
  return paths;
}

}  // namespace

void OutputNote::append_to(std::string& tag) const {
  Encoder encoder(tag);
  put_paths(encoder, outputs);
  put_paths(encoder, collect);
  put_paths(encoder, staying);
  encoder.str(base);
}

std::optional<OutputNote> OutputNote::find_in(std::string_view tag) {
  const std::size_t before = to_tag({}).size();
  if (tag.size() < before) return std::nullopt;
  Decoder decoder(tag.substr(before));
  OutputNote note;
  note.outputs = get_paths(decoder);
  note.collect = get_paths(decoder);
  // An older gantry wrote neither.
  if (!decoder.at_end()) note.staying = get_paths(decoder);
  if (!decoder.at_end()) note.base = decoder.str();
  if (!decoder.ok() || !decoder.at_end()) return std::nullopt;
  return note;
}

}  // namespace gantry
