#include "cli/terminal/redraw_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/terminal/display_text.hpp"

namespace gantry::cli {
namespace {

/// Columns of a line that may hold colour sequences (ours: ESC [ … m).
std::size_t painted_width(std::string_view line) {
  std::string bare;
  while (!line.empty()) {
    if (line.starts_with("\x1b[")) {
      const std::size_t end = line.find('m');
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
      continue;
    }
    const std::size_t next = std::min(line.find('\x1b', 1), line.size());
    bare += line.substr(0, next);
    line.remove_prefix(next);
  }
  return display_width(bare);
}

}  // namespace

std::string RedrawBlock::erase_sequence() const {
  if (shown_.empty()) return {};
  // The cursor stands on the last line. A terminal that became narrower has wrapped what we drew.
  const std::size_t columns = std::max<std::size_t>(1, columns_());
  std::size_t rows = 0;
  for (const std::size_t width : shown_)
    rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  return rows > 1 ? fmt::format("\r\x1b[{}A\x1b[J", rows - 1) : "\r\x1b[J";
}

void RedrawBlock::draw(std::vector<std::string> lines) {
  std::string text = erase_sequence();
  shown_.clear();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    text += lines[i];
    shown_.push_back(painted_width(lines[i]));
  }
  // One write: a half-drawn block would flicker.
  out_.write(text);
  out_.flush();
}

void RedrawBlock::clear() {
  if (shown_.empty()) return;
  out_.write(erase_sequence());
  shown_.clear();
  out_.flush();
}

}  // namespace gantry::cli
