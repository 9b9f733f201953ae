#pragma once
/// A large file that arrives in pieces, perhaps over several connections: it lies among the partial
/// files of its depot until it is whole and verified. Owned by a file server.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/hash.hpp"
#include "depot/depot.hpp"

namespace gantry::depot {

class IncomingFile {
 public:
  /// Finds what `sender` sent of it before, or what another sender has given up. `depot` outlives
  /// this.
  IncomingFile(Depot& depot, const StoredFile& file, bool executable, const std::string& sender);

  [[nodiscard]] const Digest& content() const { return file_.content; }
  /// Bytes that are there: the next piece begins here.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] bool is_whole() const { return offset_ == file_.bytes; }
  Result<> write(std::string_view bytes);
  /// All of it from another file of the same file system, without copying; false when that cannot
  /// be done. REQUIRES: the file has the size that was announced.
  bool clone(int from);

  /// Reads up to `most` bytes of what earlier connections left, to verify it.
  Result<> read_some(std::size_t most);
  [[nodiscard]] bool is_read() const { return hashed_ == offset_; }

  /// Puts it into the depot. REQUIRES: is_whole() and is_read(). `corrupt` when it is another
  /// content than was announced; nothing is left of it then.
  Result<> finish();

 private:
  Result<> open();
  void find_partial(const std::string& sender);
  tl::unexpected<Error> failed() const;

  Depot* depot_;
  StoredFile file_;
  bool executable_;
  std::string partial_;  ///< relative to the depot
  UniqueFd fd_;
  Hasher hasher_;
  std::uint64_t offset_ = 0;
  std::uint64_t hashed_ = 0;
  std::uint64_t flushed_ = 0;
};

}  // namespace gantry::depot
