#pragma once
/// A few lines at the bottom of a terminal that are drawn over again while ordinary lines scroll by
/// above them. Remembers what it drew, so that it can be taken away even after the window became
/// narrower. One thread.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/terminal/output.hpp"

namespace gantry::cli {

class RedrawBlock {
 public:
  /// `columns` tells the terminal's present width.
  RedrawBlock(Output& out, std::function<std::size_t()> columns)
      : out_(out), columns_(std::move(columns)) {}
  ~RedrawBlock() { clear(); }
  RedrawBlock(const RedrawBlock&) = delete;
  RedrawBlock& operator=(const RedrawBlock&) = delete;

  void draw(std::vector<std::string> lines);
  /// Takes the block away; ordinary output may follow. The next draw() puts it below that.
  void clear();

 private:
  [[nodiscard]] std::string erase_sequence() const;

  Output& out_;
  std::function<std::size_t()> columns_;
  std::vector<std::size_t> shown_;  ///< widths of the lines on the screen
};

}  // namespace gantry::cli
