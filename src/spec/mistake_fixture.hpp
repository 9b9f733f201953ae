#pragma once
/// For tests: a file that is wrong, and what is said of it.

#include <ostream>
#include <string>

namespace gantry::spec {

struct Mistake {
  std::string text;
  std::string message;
  std::string hint = {};
};

inline void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.text;
}

}  // namespace gantry::spec
