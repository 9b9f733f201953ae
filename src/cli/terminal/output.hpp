#pragma once
/// A buffered way to standard output or standard error. A reader that goes away (`| head`) is no
/// error: later writes are dropped, and closed() says so. We wait for a slow reader, but give up
/// one that takes nothing when a person wants to stop. One thread.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gantry::cli {

class Output {
 public:
  /// Does not own `fd`.
  explicit Output(int fd) : fd_(fd) {}
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  void line(std::string_view text);
  /// The buffer itself, for callers that format in place; call settle() after a line.
  [[nodiscard]] std::string& buffer() { return buffer_; }
  /// Flushes when the buffer has grown large.
  void settle();
  void flush();

  /// Nobody reads any more; go on only for other reasons than to print.
  [[nodiscard]] bool closed() const { return closed_; }
  /// The first failure other than a closed reader: a full disk, a reader that was given up.
  [[nodiscard]] const Result<>& status() const { return status_; }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  [[nodiscard]] bool await_reader() const;

  int fd_;
  std::string buffer_;
  bool closed_ = false;
  Result<> status_;
};

}  // namespace gantry::cli
