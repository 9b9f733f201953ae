/// Any bytes as the two segments of a slot's log: an error, or a history that is the same when read
/// again and to which a new report can be added. The first byte says where the segments part.

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/slot_log.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

void put(const std::filesystem::path& path, std::string_view bytes) {
  const auto fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!fd || !write_all(fd->get(), bytes)) std::abort();
}

void check(const std::filesystem::path& path) {
  const auto first = recover_slot_log(path);
  if (!first) return;
  const auto again = recover_slot_log(path);
  if (!again || again->ended != first->ended ||
      again->unfinished.size() != first->unfinished.size())
    std::abort();

  std::string report;
  encode(report, 1, Ended{.key = {1, 2, 3}});
  auto log = SlotLog::open(path);
  if (!log || !log->append(report)) std::abort();
  const auto after = recover_slot_log(path);
  if (!after || after->ended.size() != first->ended.size() + 1) std::abort();
}

}  // namespace
}  // namespace gantry::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  static const ScratchDir scratch;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t old = bytes.empty() ? 0 : bytes.size() * data[0] / 256;
  if (!bytes.empty()) bytes.remove_prefix(1);
  const auto path = agent::slot_log_path(scratch.path(), 0);
  agent::put(path.string() + ".old", bytes.substr(0, old));
  agent::put(path, bytes.substr(std::min(old, bytes.size())));
  agent::check(path);
  agent::remove_slot_log(path);
  return 0;
}
