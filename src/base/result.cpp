#include "base/result.hpp"

#include <cerrno>
#include <cstring>

namespace gantry {

tl::unexpected<Error> fail_errno(std::string_view what, std::string hint) {
  const int saved = errno;
  if (hint.empty() && saved == ENOSPC) hint = "free some disk space and run the same command again";
  return fail(ErrorCode::io, std::string(what) + ": " + std::strerror(saved), std::move(hint));
}

}  // namespace gantry
