#pragma once
/// Finds commands that hand values to a shell unquoted. `shell: true` quotes them; someone who
/// writes `sh -c 'echo {x}'` asks for the text as it is, and should know what that means. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "model/sweep_definition.hpp"

namespace gantry::spec {

/// One warning for each parameter with values that the shell would read as more than a word.
std::vector<std::string> shell_warnings(const SweepDefinition& definition);

/// A one-liner's command with a word such as `|` or `&&`: it is meant for a shell, and there is
/// none.
std::vector<std::string> shell_word_warnings(const SweepDefinition& definition);

/// The text has `$GANTRY_PARAM_name` or `${GANTRY_PARAM_name}`, and not a longer name.
bool reads_variable(std::string_view text, std::string_view name);

}  // namespace gantry::spec
