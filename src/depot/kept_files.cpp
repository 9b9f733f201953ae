#include "depot/kept_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "depot/file_tools.hpp"
#include "depot/files_protocol.hpp"
#include "depot/folder_tools.hpp"

namespace gantry::depot {

namespace {

namespace fs = std::filesystem;

/// The name itself, no link, and the only one of the file: a second name may be the depot's, which
/// would never be evicted.
bool can_be_moved(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1;
}

Result<StoredFile> keep_file(const fs::path& sandbox, int sandbox_fd, const std::string& name,
                             const fs::path& folder) {
  if (!is_below(name)) return fail(ErrorCode::peer, name + ": is not in the task's folder");
  TRY_ASSIGN(UniqueFd file, open_below(sandbox_fd, name, O_RDONLY));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(name);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::io, name + ": is not a plain file");
  const fs::path to = folder / name;
  TRY(make_parents(to));
  if (!can_be_moved(sandbox / name) || ::rename((sandbox / name).c_str(), to.c_str()) != 0) {
    TRY(copy_to(file.get(), to, info.st_mode & 0777U));
    TRY_ASSIGN(file, open_file(to, O_RDONLY));
  }
  TRY_ASSIGN(const Digest content, hash_of(file.get()));
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  // Small ones are not worth the wait: whoever fetches a damaged one notices.
  if (bytes > kPieceBytes && ::fdatasync(file.get()) != 0) return fail_errno(name);
  return StoredFile{content, bytes};
}

}  // namespace

Result<std::vector<StoredFile>> keep_files(const fs::path& sandbox,
                                           const std::vector<std::string>& names,
                                           const fs::path& folder) {
  TRY_ASSIGN(const UniqueFd from, open_file(sandbox, O_RDONLY | O_DIRECTORY));
  const std::string name = folder.filename().string();
  const std::string beside = "." + name;
  TRY(make_parents(folder));
  TRY_ASSIGN(const UniqueFd parent, open_file(folder.parent_path(), O_RDONLY | O_DIRECTORY));
  TRY(remove_tree(parent.get(), beside));
  std::vector<bool> moves;
  moves.reserve(names.size());
  for (const auto& each : names) moves.push_back(can_be_moved(sandbox / each));
  const auto move_all = [&]() -> Result<std::vector<StoredFile>> {
    if (::mkdirat(parent.get(), beside.c_str(), 0777) != 0) return fail_errno(folder.string());
    std::vector<StoredFile> kept(names.size());
    // What is copied first: it may be a link to what is moved.
    for (const bool moved : {false, true}) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (moves[i] != moved) continue;
        TRY_ASSIGN(kept[i],
                   keep_file(sandbox, from.get(), names[i], folder.parent_path() / beside));
      }
    }
    TRY(remove_tree(parent.get(), name));
    if (::renameat(parent.get(), beside.c_str(), parent.get(), name.c_str()) != 0)
      return fail_errno(folder.string());
    return kept;
  };
  auto kept = move_all();
  if (!kept) static_cast<void>(remove_tree(parent.get(), beside));
  return kept;
}

}  // namespace gantry::depot
