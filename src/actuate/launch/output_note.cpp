#include "actuate/launch/output_note.hpp"

#include "actuate/launch/task_wire.hpp"
#include "base/wire_fields.hpp"

namespace gantry {

void OutputNote::append_to(std::string& tag) const {
  Encoder encoder(tag);
  FieldWriter writer(encoder);
  writer(*this);
}

std::optional<OutputNote> OutputNote::find_in(std::string_view tag) {
  const std::size_t before = to_tag({}).size();
  if (tag.size() < before) return std::nullopt;
  return decode<OutputNote>(tag.substr(before));
}

}  // namespace gantry
