/// Any words as a one-liner (one a line): an error, or a sweep that its stored words build again.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "small_sweep.hpp"
#include "spec/one_liner.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  std::vector<std::string> words(1);
  for (const char c : std::string_view(reinterpret_cast<const char*>(data), size)) {
    if (c == '\n') {
      words.emplace_back();
    } else {
      words.back().push_back(c);
    }
  }
  const auto typed = []() -> Result<std::string> { return "first\n:::\nx=1..3\n"; };
  const auto read = spec::read_one_liner(words, "/nonexistent", typed);
  if (!read || !is_small(read->definition)) return 0;
  const auto sweep = Sweep::build(read->definition);
  if (!sweep) return 0;
  walk(*sweep);
  auto again = spec::read_one_liner(read->args, "/nonexistent", {});
  if (!again) std::abort();
  const auto same = Sweep::build(std::move(again->definition));
  if (!same || same->digest() != sweep->digest()) std::abort();
  return 0;
}
