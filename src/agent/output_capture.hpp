#pragma once
/// Takes in what one stream of a task prints. A slot has two, for as long as it lives: the pipe is
/// made once and used by one task after the other. Small output stays in memory; from kInline bytes
/// on it goes to a pack file that all tasks of the slot share, so that a million tasks do not make
/// a million files.

#include <cstdint>
#include <filesystem>
#include <string>

#include "agent/protocol.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class OutputCapture {
 public:
  static constexpr std::size_t kInline = std::size_t{64} << 10;  ///< kept whole in the report
  static constexpr std::size_t kTail = std::size_t{16} << 10;    ///< kept of larger output
  static constexpr int kReads = 16;                              ///< at most, in one drain()

  /// Pack files lie below `output_dir`; `stream` ("out", "err") ends their names.
  static Result<OutputCapture> create(std::filesystem::path output_dir, std::string stream);

  [[nodiscard]] int read_end() const { return read_.get(); }
  [[nodiscard]] int write_end() const { return write_.get(); }

  /// A new task begins; `pack_stem` is like "run-3/slot-2".
  void begin(const std::string& pack_stem);
  /// Reads what is there, without waiting; not for ever, however fast the task prints.
  void drain();
  /// Drains a last time and hands over what was captured.
  /// REQUIRES: the task's processes are gone, or what they still print may be lost.
  Captured finish();

 private:
  OutputCapture() = default;
  void keep(std::string_view bytes);
  void spill(std::string_view bytes);
  void give_up_pack();
  bool open_pack();

  UniqueFd read_;
  UniqueFd write_;
  std::filesystem::path output_dir_;
  std::string stream_;
  std::string pack_name_;
  UniqueFd pack_;
  std::string pack_open_;  ///< name of the file that `pack_` is
  Captured captured_;
  std::string buffer_;
};

}  // namespace gantry::agent
