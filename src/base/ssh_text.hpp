#pragma once
/// Texts that are needed wherever the system's ssh is asked for something: here, and at sites that
/// ask each other. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// 'it''s' as a POSIX shell takes it for one word.
std::string shell_quoted(std::string_view text);
/// The same of a path; "$HOME"/'rest' where it begins with ~/.
std::string shell_quoted_path(std::string_view path);

/// Whether it can be given to ssh as the host to log in to, or as user@host: never an option.
bool is_ssh_name(std::string_view name);

/// "-o", "BatchMode=yes" and so on: the person's own configuration, keys and jump hosts count, host
/// keys are always checked, nobody is asked for a password, and nothing is forwarded.
std::vector<std::string> ssh_options();

}  // namespace gantry
