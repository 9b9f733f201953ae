#include "model/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace gantry {

namespace {

constexpr std::size_t kLongestWord = 64;

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// Edits (insert, delete, replace) between two words, letter case aside.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

template <class Word>
std::string suggest(std::string_view word, std::span<const Word> known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string_view best;
  // A third of the letters may be wrong; of a short word one.
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t d = distance(word, candidate);
    if (d < best_distance && d < candidate.size()) {
      best = candidate;
      best_distance = d;
    }
  }
  return best.empty() ? std::string() : fmt::format("did you mean '{}'?", best);
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  return suggest(word, known);
}
std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  return suggest(word, known);
}

}  // namespace gantry
