#pragma once
/// The whole terminal for one picture that is drawn again and again; what was there before comes
/// back at the end. Reads single keys. One thread.

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "cli/terminal/output.hpp"
#include "driver/signals.hpp"

namespace gantry::cli {

class FullScreen {
 public:
  /// REQUIRES: `out` is a terminal. While this lives, SIGINT and SIGTERM only end wait().
  static Result<FullScreen> open(Output& out);
  FullScreen(FullScreen&& other) noexcept;
  FullScreen& operator=(FullScreen&&) = delete;
  ~FullScreen();

  void draw(const std::vector<std::string>& lines);
  [[nodiscard]] std::size_t rows() const;
  /// Until a key is pressed or the time is over; false when the person wants to leave: q, Ctrl-C,
  /// or the end of the input.
  bool wait(Duration time);

 private:
  FullScreen(Output& out, driver::StopSignals signals);

  Output* out_;
  driver::StopSignals signals_;
  std::optional<termios> before_;  ///< when standard input is a terminal
};

}  // namespace gantry::cli
