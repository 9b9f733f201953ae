#pragma once
/// Single files: read to their end, copied, opened below a folder by a name that nobody trusts.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/hash.hpp"

namespace gantry::depot {

/// Of the whole file; where the descriptor stands does not matter.
Result<Digest> hash_of(int file);

/// Makes the folders that lead to `path`.
Result<> make_parents(const std::filesystem::path& path);

/// Copies the whole open file to the new file `to`; its content.
Result<Digest> copy_to(int from, const std::string& to, unsigned mode);
/// Copies `from` to the new file `to`; `corrupt` (and no file) when it has another content.
Result<> copy_verified(const std::string& from, const Digest& content, const std::string& to,
                       unsigned mode);

/// Whether a name that came from elsewhere can only be something below a folder: relative, in its
/// shortest form, without "..", at most 4096 bytes.
bool is_below(std::string_view path);

/// Opens `path`, which is_below(), without leaving `folder`: links that lead elsewhere are refused
/// (on kernels before 5.6, all links). Never waits, whatever kind of file it is; `gone` when there
/// is none.
Result<UniqueFd> open_below(int folder, const std::string& path, int flags);
/// open_below() for kernels before 5.6.
Result<UniqueFd> walk_below(int folder, const std::string& path, int flags);

}  // namespace gantry::depot
