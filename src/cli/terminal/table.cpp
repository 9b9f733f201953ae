#include "cli/terminal/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kHeldRows = 1000;
constexpr std::size_t kGap = 2;
/// A column is not cut to less than this; below, leaving it out tells more.
constexpr std::size_t kNarrowest = 8;

bool looks_numeric(std::string_view text) {
  if (parse_number(text)) return true;
  const std::size_t unit = text.find(' ');  // "3.2 s", "12 KiB"
  return unit != std::string_view::npos && parse_number(text.substr(0, unit)).has_value() &&
         text.size() - unit <= 4;
}

}  // namespace

Table::Table(std::vector<Column> columns, TableStyle style, Sink sink)
    : columns_(std::move(columns)), style_(style), sink_(std::move(sink)) {}

void Table::add(std::vector<Cell> cells) {
  assert(cells.size() == columns_.size());
  ++rows_;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].text = one_line(cells[i].text);
    if (may_cut(i)) cells[i].text = round_number(cells[i].text);
  }
  if (laid_out_) {
    widen(cells);
    return print(cells);
  }
  held_.push_back(std::move(cells));
  if (held_.size() == kHeldRows) lay_out();
}

void Table::finish() {
  if (!laid_out_ && !held_.empty()) lay_out();
  std::string missing;
  for (std::size_t i = 0; i < dropped_.size(); ++i)
    if (dropped_[i]) missing += (missing.empty() ? "" : ", ") + one_line(columns_[i].title);
  if (missing.empty()) return;
  const auto text = fmt::format("(no room for: {}; {} shows everything)", missing,
                                style_.can_be_wide ? "--wide" : "a wider terminal");
  for (const auto& line : wrap(text, std::max<std::size_t>(style_.columns, 20)))
    sink_(paint(line, Color::dim, style_.color));
}

void Table::lay_out() {
  laid_out_ = true;
  const std::size_t count = columns_.size();
  widths_.assign(count, 0);
  right_.assign(count, true);
  dropped_.assign(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    columns_[i].title = one_line(columns_[i].title);
    widths_[i] = std::max(columns_[i].width, display_width(columns_[i].title));
    bool any = false;
    for (const auto& row : held_) {
      const auto& text = row[i].text;
      widths_[i] = std::max(widths_[i], display_width(text));
      if (text.empty() || text == "-") continue;
      any = true;
      if (!looks_numeric(text)) right_[i] = false;
    }
    if (!any) right_[i] = false;
  }
  if (style_.columns > 0) {
    shrink_columns(style_.columns);
    drop_columns(style_.columns);
  }
  print_titles();
  for (const auto& row : held_) print(row);
  held_.clear();
}

std::size_t Table::used_width() const {
  std::size_t width = 0;
  for (std::size_t i = 0; i < widths_.size(); ++i)
    if (!dropped_[i]) width += widths_[i] + (width == 0 ? 0 : kGap);
  return width;
}

void Table::shrink_columns(std::size_t room) {
  std::size_t used = used_width();
  while (used > room) {
    std::size_t widest = widths_.size();
    for (std::size_t i = 0; i < widths_.size(); ++i)
      if (columns_[i].may_shrink && widths_[i] > kNarrowest &&
          (widest == widths_.size() || widths_[i] > widths_[widest]))
        widest = i;
    if (widest == widths_.size()) return;
    // Down to the next widest, so that the widest column pays first; then all of them a column at a
    // time.
    std::size_t next = kNarrowest;
    for (std::size_t i = 0; i < widths_.size(); ++i)
      if (i != widest && columns_[i].may_shrink && widths_[i] < widths_[widest])
        next = std::max(next, widths_[i]);
    const std::size_t cut = std::min(used - room, std::max<std::size_t>(1, widths_[widest] - next));
    widths_[widest] -= cut;
    used -= cut;
  }
}

/// Later rows may be wider than those that were held: they take the room that is left.
void Table::widen(const std::vector<Cell>& cells) {
  if (style_.columns == 0) return;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t wanted = display_width(cells[i].text);
    if (dropped_[i] || wanted <= widths_[i]) continue;
    const std::size_t used = used_width();
    if (used < style_.columns) widths_[i] = std::min(wanted, widths_[i] + (style_.columns - used));
  }
}

bool Table::may_cut(std::size_t column) const {
  return style_.columns > 0 && columns_[column].may_shrink;
}

void Table::drop_columns(std::size_t room) {
  for (std::size_t i = widths_.size(); i-- > 0 && used_width() > room;)
    if (columns_[i].may_drop) dropped_[i] = true;
}

void Table::print_titles() {
  std::vector<Cell> titles;
  for (const auto& column : columns_) titles.emplace_back(column.title, Color::bold);
  print(titles);
}

/// A number is rounded, never cut: half of one reads as another.
std::string Table::cut(const std::string& text, std::size_t width) const {
  if (display_width(text) <= width) return text;
  if (auto number = fit_number(text, width)) return *number;
  return fit(text, width, style_.utf8);
}

void Table::print(const std::vector<Cell>& cells) {
  std::string line;
  std::size_t owed = 0;  // spaces that only count when something follows
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (dropped_[i]) continue;
    const std::string text = may_cut(i) ? cut(cells[i].text, widths_[i]) : cells[i].text;
    const std::size_t width = display_width(text);
    const std::size_t pad = widths_[i] > width ? widths_[i] - width : 0;
    if (!text.empty()) {
      line.append(owed + (right_[i] ? pad : 0), ' ');
      line += paint(text, cells[i].color, style_.color);
      owed = (right_[i] ? 0 : pad) + kGap;
    } else {
      owed += pad + kGap;
    }
  }
  sink_(line);
}

}  // namespace gantry::cli
