#pragma once
/// A file that comes home: written beside its place, and put there in one step when its content is
/// what the sender says. Removed if that does not happen. Owned by a mover.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/hash.hpp"

namespace gantry {

class ArrivingFile {
 public:
  /// `resume`: from where another one stopped. What is here then stays at the end, too.
  explicit ArrivingFile(std::string path, bool resume = false);
  ArrivingFile(ArrivingFile&&) = delete;
  ~ArrivingFile() {
    if (!resume_) forget();
  }

  /// So much is here; the next piece begins there.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  /// The sender begins, or goes on. What is here stays.
  Result<> expect(std::uint64_t bytes, bool executable);
  Result<> write(std::string_view bytes);
  /// True when it is in its place, false when its content is another than was sent.
  Result<bool> finish(const Digest& sent);
  /// From the beginning.
  void forget();

 private:
  void find_part();

  std::string path_;
  bool resume_;
  std::string beside_;
  UniqueFd fd_;
  Hasher hasher_;
  std::uint64_t bytes_ = 0;
  std::uint64_t expected_ = 0;
};

}  // namespace gantry
