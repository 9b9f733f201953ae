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

/// Edits (insert, delete, replace, swap two neighbours) between two words, letter case aside.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // the row before the last
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j - 1] + (same ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

bool is_decimal_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// "s1" and "s2": another one of them, and no slip of the finger. REQUIRES: they differ.
bool differ_in_digits_only(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char one, char other) {
    return lower(one) == lower(other) || (is_decimal_digit(one) && is_decimal_digit(other));
  });
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
    if (d > 0 && differ_in_digits_only(word, candidate)) continue;
    // Of two letters one must not be wrong: any other name would be as near.
    const bool in_common = d == 0 || (d < candidate.size() && candidate.size() > 2);
    if (d < best_distance && in_common) {
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
