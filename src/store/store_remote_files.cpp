// Store: outputs that stay at the sites where they were made.
#include <algorithm>

#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

constexpr auto kColumns = "path, site, remote, bytes, content, grid";

RemoteFile read_file_of(Statement& s) {
  RemoteFile file;
  file.path = s.string();
  file.site = s.string();
  file.remote = s.string();
  file.bytes = static_cast<std::uint64_t>(s.integer());
  file.content = s.digest();
  file.grid = s.string();
  return file;
}

}  // namespace

Result<> Store::Impl::write_remote_files(RunId run, const AttemptEnded& ended) {
  TRY_ASSIGN(Statement replace, db.prepare("UPDATE remote_files SET replaced = 1 WHERE path = ?"));
  for (const auto& path : ended.replaces) TRY(replace.text(path).run());
  for (const auto& file : ended.report.remote_files) TRY(replace.text(file.path).run());
  TRY_ASSIGN(Statement insert,
             db.prepare("INSERT OR REPLACE INTO remote_files (site, remote, path, run, task, "
                        "attempt, bytes, content, grid) VALUES (?,?,?,?,?,?,?,?,?)"));
  const TaskKey& key = ended.report.key;
  for (const auto& file : ended.report.remote_files) {
    insert.text(file.site).text(file.remote).text(file.path);
    insert.integer(run.value()).integer(key.task.value()).integer(key.attempt.value());
    insert.integer(static_cast<std::int64_t>(file.bytes)).digest(file.content).text(file.grid);
    TRY(insert.run());
  }
  return {};
}

Result<std::vector<Store::RemoteOutput>> Store::remote_outputs() const {
  TRY_ASSIGN(Statement s, impl_->db.prepare(std::string("SELECT ") + kColumns +
                                            ", run, task, attempt, replaced FROM remote_files "
                                            "ORDER BY site, run, task, attempt, remote"));
  std::vector<RemoteOutput> outputs;
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return outputs;
    RemoteOutput& output = outputs.emplace_back();
    output.file = read_file_of(s);
    output.made_by.run = RunId(s.number<std::uint32_t>());
    output.made_by.task = TaskId(s.number<std::uint32_t>());
    output.made_by.attempt = AttemptId(s.number<std::uint32_t>());
    output.replaced = s.integer() != 0;
  }
}

Result<std::optional<RemoteFile>> Store::remote_output(const std::string& path) const {
  TRY_ASSIGN(Statement * statement,
             impl_->db.prepare_once(std::string("SELECT ") + kColumns +
                                    " FROM remote_files WHERE path = ? AND replaced = 0 LIMIT 1"));
  const Statement::Scope scope(*statement);
  TRY_ASSIGN(const bool found, statement->text(path).step());
  if (!found) return std::nullopt;
  return read_file_of(*statement);
}

Result<bool> Store::knows(const RemoteFile& file) const {
  for (const auto& [run, event] : impl_->group.events) {
    const auto* ended = std::get_if<AttemptEnded>(&event);
    if (ended != nullptr &&
        std::ranges::find(ended->report.remote_files, file) != ended->report.remote_files.end())
      return true;
  }
  TRY_ASSIGN(Statement * statement,
             impl_->db.prepare_once("SELECT 1 FROM remote_files WHERE site = ? AND remote = ?"));
  const Statement::Scope scope(*statement);
  return statement->text(file.site).text(file.remote).step();
}

Result<> Store::forget(const RemoteFile& file) {
  TRY_ASSIGN(Statement s,
             impl_->db.prepare("DELETE FROM remote_files WHERE site = ? AND remote = ?"));
  return s.text(file.site).text(file.remote).run();
}

}  // namespace gantry::store
