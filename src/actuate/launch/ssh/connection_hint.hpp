#pragma once
/// What a person can do about an ssh connection that failed. Pure text.

#include <string>
#include <string_view>

namespace gantry {

/// `why`: what ssh, or the shell at its far end, said last; `host`: as ssh is told it, like
/// ssh_by_hand(). Empty when nothing is known to help.
std::string connection_hint(std::string_view why, std::string_view host);

}  // namespace gantry
