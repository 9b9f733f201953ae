#pragma once
/// Aligned columns of text that fit a width; numbers are rounded to do so, text is cut. Rows
/// stream: the first ones are held to learn how wide columns must be, later ones are printed as
/// they come, so that a million rows need no memory. One thread.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace gantry::cli {

struct Column {
  std::string title;
  bool may_drop = true;    ///< leave it out, last column first, when there is no room
  bool may_shrink = true;  ///< cut or round its cells before columns are left out; never others
  std::size_t width = 0;   ///< at least; for what later rows may hold
};

struct Cell {
  Cell(std::string cell_text,
       Color cell_color = Color::none)  // NOLINT(google-explicit-constructor)
      : text(std::move(cell_text)), color(cell_color) {}
  std::string text;  ///< any bytes; control characters are shown escaped
  Color color = Color::none;
};

struct TableStyle {
  std::size_t columns = 80;  ///< 0 = as wide as it gets
  bool utf8 = false;
  bool color = false;
  bool can_be_wide = false;  ///< the command has --wide
};

class Table {
 public:
  using Sink = std::function<void(std::string_view line)>;  ///< gets whole lines without their end

  Table(std::vector<Column> columns, TableStyle style, Sink sink);

  /// REQUIRES: as many cells as columns.
  void add(std::vector<Cell> cells);
  /// Prints what is held, and which columns had no room. A table without rows prints nothing.
  void finish();
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  void lay_out();
  void shrink_columns(std::size_t room);
  void drop_columns(std::size_t room);
  [[nodiscard]] std::size_t used_width() const;
  void widen(const std::vector<Cell>& cells);
  [[nodiscard]] bool may_cut(std::size_t column) const;
  [[nodiscard]] std::string cut(const std::string& text, std::size_t width) const;
  void print_titles();
  void print(const std::vector<Cell>& cells);

  std::vector<Column> columns_;
  TableStyle style_;
  Sink sink_;
  std::vector<std::vector<Cell>> held_;
  bool laid_out_ = false;
  std::size_t rows_ = 0;
  std::vector<std::size_t> widths_;
  std::vector<bool> right_;  ///< numbers stand at the right
  std::vector<bool> dropped_;
};

}  // namespace gantry::cli
