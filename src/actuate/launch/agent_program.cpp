#include "actuate/launch/agent_program.hpp"

#include <unistd.h>

#include <system_error>

namespace gantry {

namespace fs = std::filesystem;

Result<fs::path> find_agent() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path dir = self.parent_path();
  for (const fs::path& candidate :
       {dir / "gantry-agent", dir.parent_path() / "libexec/gantry/gantry-agent"}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return fail(ErrorCode::io, "gantry-agent is not installed beside " + self.string(),
              "build or install Gantry again: both programs belong together");
}

}  // namespace gantry
