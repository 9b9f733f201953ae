#pragma once
/// A file at home that is about to be sent.

#include "actuate/mover.hpp"
#include "base/fd.hpp"

namespace gantry {

/// Opens it; an error when it is not a plain file of the size that was announced.
Result<UniqueFd> open_to_send(const Put& put);

}  // namespace gantry
