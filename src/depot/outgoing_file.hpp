#pragma once
/// A file of a task that home fetches, or a part of it: read, hashed and sent piece by piece. Owned
/// by a file server.

#include <string>

#include "base/fd.hpp"
#include "base/hash.hpp"
#include "depot/files_protocol.hpp"

namespace gantry::depot {

class OutgoingFile {
 public:
  explicit OutgoingFile(Fetch request) : request_(std::move(request)) {}
  [[nodiscard]] RequestId id() const { return request_.id; }

  /// Reads the next piece and appends its messages to `out`. False at the end of the file. `work`
  /// is SCRATCH/work.
  Result<bool> step(int work, std::string& out, Packer& packer);

 private:
  Result<> open(int work, std::string& out);

  Fetch request_;
  UniqueFd fd_;
  Hasher hasher_;
  Packing packing_;
  std::uint64_t bytes_ = 0;  ///< of the range
  std::uint64_t at_ = 0;     ///< in the range
};

}  // namespace gantry::depot
