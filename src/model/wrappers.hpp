#pragma once
/// Programs that run another one which stands among their arguments: `nice ./sim`, `timeout 10
/// ./sim`, `sh -c TEXT`. The one table of them. Pure; any thread.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gantry {

/// The last part of a path.
std::string_view program_name(std::string_view program);

/// Where the program stands that is run in the end; words.size() when there is none.
std::size_t behind_wrappers(std::span<const std::string> words);

/// The text that `sh -c TEXT` (or bash, dash, ksh, zsh) reads; empty for any other command.
std::string_view shell_text(std::span<const std::string> words);

}  // namespace gantry
