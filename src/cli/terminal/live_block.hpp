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

class LiveBlock {
 public:
  /// `columns` tells the terminal's present width.
  LiveBlock(Output& out, std::function<std::size_t()> columns)
      : out_(out), columns_(std::move(columns)) {}
  ~LiveBlock() { clear(); }
  LiveBlock(const LiveBlock&) = delete;
  LiveBlock& operator=(const LiveBlock&) = delete;

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
