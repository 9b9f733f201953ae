#include "actuate/launch/ssh/connection_hint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace gantry {

namespace {

bool says_any(std::string_view text, std::initializer_list<std::string_view> phrases) {
  return std::ranges::any_of(
      phrases, [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

}  // namespace

std::string connection_hint(std::string_view why, std::string_view host) {
  if (says_any(why, {"Host key verification failed", "host key"}))
    return fmt::format("compare its key and accept it once by hand: ssh {}", host);
  // A folder may be denied, too; ssh itself names the ways that it tried to log in.
  if (says_any(why, {"Permission denied ("}))
    return fmt::format("Gantry never asks for passwords: make `ssh -o BatchMode=yes {} true` work",
                       host);
  if (says_any(why, {"No space left", "quota exceeded", "Quota exceeded"}))
    return "make room there, or name another folder with scratch: in the grid file";
  if (says_any(why, {"mkdir:", " cd:", "can't cd", "Read-only file system"}))
    return "its scratch folder cannot be used: name another with scratch: in the grid file";
  if (says_any(why, {"Permission denied", "Exec format error"}))
    return "programs cannot be run from its scratch folder (a noexec file system?): name another "
           "with scratch: in the grid file";
  if (says_any(why, {"Could not resolve"}))
    return "is the name right, in the grid file and in ~/.ssh/config?";
  if (says_any(why, {"Connection refused"}))
    return "is its ssh server running, and the port in ~/.ssh/config right?";
  if (says_any(why, {"timed out", "No route to host", "Network is unreachable", "not answer"}))
    return fmt::format("is it switched on, and is there a way to it? try: ssh {} true", host);
  if (says_any(why, {"not found"})) return "install the basic tools there (Debian: coreutils)";
  return "";
}

}  // namespace gantry
