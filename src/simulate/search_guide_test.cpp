#include "simulate/search_guide.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

namespace gantry::simulate {
namespace {

RC_GTEST_PROP(SearchGuideProperty, FindsWhatASearchOfAllNumbersFinds, ()) {
  auto numbers = *rc::gen::nonEmpty<std::vector<std::uint16_t>>();
  std::vector<double> ascending(numbers.begin(), numbers.end());
  if (*rc::gen::arbitrary<bool>()) ascending.resize(ascending.size() + 20, ascending[0]);
  std::ranges::sort(ascending);
  const SearchGuide guide(ascending);
  const double wanted = *rc::gen::oneOf(rc::gen::element(ascending.front(), ascending.back()),
                                        rc::gen::map<int>([](int i) { return i / 3.0; }),
                                        rc::gen::elementOf(ascending));
  const auto begin = *rc::gen::inRange<std::size_t>(0, ascending.size() + 1);
  const auto from = ascending.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto place = [&](auto found) {
    return static_cast<std::size_t>(found - ascending.begin());
  };
  RC_ASSERT(guide.find(ascending, begin, wanted, std::less{}) ==
            place(std::lower_bound(from, ascending.end(), wanted)));
  RC_ASSERT(guide.find(ascending, begin, wanted, std::less_equal{}) ==
            place(std::upper_bound(from, ascending.end(), wanted)));
}

}  // namespace
}  // namespace gantry::simulate
