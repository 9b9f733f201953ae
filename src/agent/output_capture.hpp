#pragma once
/// Takes in what one stream of a task prints. A slot has two, for as long as it lives. A pipe is
/// used again only within kShared of its making, as a new one for each of many short tasks costs 4
/// % of their throughput: somebody outside who keeps a task's pipe open can write into the tasks
/// that begin in that moment, and into none later. Small output stays in memory; from kInline bytes
/// on it goes to a pack file that all tasks of the slot share, so that a million tasks do not make
/// a million files.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "agent/protocol.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class OutputCapture {
 public:
  static constexpr std::size_t kInline = std::size_t{64} << 10;  ///< kept whole in the report
  static constexpr std::size_t kTail = std::size_t{16} << 10;    ///< kept of larger output
  static constexpr int kReads = 16;                              ///< at most, in one drain()

  static constexpr std::chrono::milliseconds kShared{20};

  /// Pack files lie below `output_dir`; `stream` ("out", "err") ends their names.
  OutputCapture(std::filesystem::path output_dir, std::string stream);

  [[nodiscard]] int read_end() const { return read_.get(); }
  [[nodiscard]] int write_end() const { return write_.get(); }

  /// A new task begins; `pack_stem` is like "run-3/slot-2". The error is that of pipe(2).
  Result<> begin(std::string_view pack_stem);
  /// Reads what is there, without waiting; not for ever, however fast the task prints.
  void drain();
  /// Drains a last time and hands over what was captured.
  /// REQUIRES: the task's processes are gone, or what they still print may be lost.
  Captured finish();

 private:
  void keep(std::string_view bytes);
  void spill(std::string_view bytes);
  void give_up_pack();
  bool open_pack();
  Result<> make_pipe();

  UniqueFd read_;
  UniqueFd write_;
  std::chrono::steady_clock::time_point made_;  ///< the pipe
  std::filesystem::path output_dir_;
  std::string stream_;
  std::string pack_stem_;
  UniqueFd pack_;
  std::string pack_open_;  ///< name of the file that `pack_` is
  Captured captured_;
  std::string buffer_;
};

}  // namespace gantry::agent
