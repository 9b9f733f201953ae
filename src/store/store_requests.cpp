// Store: what other processes ask for, and the digests of files.
#include <algorithm>

#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

/// A line for each: "join NAME", "grid PATH", "leave NAME". Empty: it is about tasks.
Result<std::string> sites_text(const Request& request) {
  std::string text;
  const auto add = [&](std::string_view verb, std::string_view name) {
    text.append(verb).append(" ").append(name).append("\n");
    return name.find('\n') == std::string_view::npos;
  };
  bool fine = request.grid.empty() || add("grid", request.grid);
  for (const auto& name : request.join) fine = add("join", name) && fine;
  for (const auto& name : request.leave) fine = add("leave", name) && fine;
  if (!fine) return fail(ErrorCode::usage, "the name of a file or site has a line break");
  return text;
}

void read_sites(std::string_view text, Request& request) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view verb = line.substr(0, blank);
    const std::string name(line.substr(blank + 1));
    if (verb == "grid") request.grid = name;
    if (verb == "join") request.join.push_back(name);
    if (verb == "leave") request.leave.push_back(name);
  }
}

}  // namespace

Result<std::int64_t> Store::post(const Request& request) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Statement s, db.prepare("INSERT INTO requests (run, tasks, sites) VALUES (?,?,?)"));
  std::string tasks;
  write_task_list(request.all, request.tasks, tasks);
  TRY_ASSIGN(const std::string sites, sites_text(request));
  s.integer(request.run.value()).plain_text(tasks).text(sites);
  TRY(s.run());
  return sqlite3_last_insert_rowid(db.raw());
}

Result<bool> Store::is_waiting(std::int64_t request) const {
  TRY_ASSIGN(Statement s, impl_->db.prepare("SELECT 1 FROM requests WHERE id = ?"));
  return s.integer(request).step();
}

Result<bool> Store::withdraw(std::int64_t request) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Statement s, db.prepare("DELETE FROM requests WHERE id = ?"));
  TRY(s.integer(request).run());
  return sqlite3_changes(db.raw()) > 0;
}

Result<std::int64_t> Store::cancels_asked(RunId run) const {
  TRY_ASSIGN(Statement s,
             impl_->db.prepare("SELECT count(*) FROM events WHERE run = ? AND task IS NULL "
                               "AND kind = 'cancel asked'"));
  TRY(s.integer(run.value()).step());
  return s.integer();
}

Result<std::vector<Request>> Store::take_requests() {
  Impl& impl = *impl_;
  std::vector<Request> requests;
  Statement& version = impl.hot->data_version;
  {
    const Statement::Scope scope(version);
    TRY(version.step());
    const std::int64_t now = version.integer();
    // Changes with each commit of another connection, never with our own.
    if (now == impl.seen_data_version) return requests;
    impl.seen_data_version = now;
  }
  TRY_ASSIGN(
      Statement s,
      impl.db.prepare("SELECT id, run, tasks, sites FROM requests WHERE id > ? ORDER BY id"));
  s.integer(impl.last_request);
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return requests;
    Request& request = requests.emplace_back();
    request.id = s.integer();
    request.run = RunId(s.number<std::uint32_t>());
    impl.last_request = impl.group.taken_requests = request.id;
    if (!read_task_list(s.bytes(), request.all, request.tasks))
      requests.pop_back();
    else
      read_sites(s.bytes(), request);
  }
}

Result<std::optional<Digest>> Store::known_digest(const std::string& path, std::uint64_t size,
                                                  std::int64_t changed_ns,
                                                  std::uint64_t inode) const {
  const auto if_same = [&](const KnownFile& file) {
    const bool same = file.size == size && file.changed_ns == changed_ns && file.inode == inode;
    return same ? std::optional(file.digest) : std::nullopt;
  };
  const auto& waiting = impl_->group.files;
  if (const auto it = waiting.find(path); it != waiting.end()) return if_same(it->second);
  TRY_ASSIGN(Statement * kept_statement,
             kept(impl_->db, impl_->known_file,
                  "SELECT size, changed_ns, inode, digest FROM file_digests WHERE path = ?"));
  Statement& s = *kept_statement;
  const Statement::Scope scope(s);
  s.text(path);
  TRY_ASSIGN(const bool found, s.step());
  if (!found) return std::nullopt;
  KnownFile file;
  file.size = static_cast<std::uint64_t>(s.integer());
  file.changed_ns = s.integer();
  file.inode = static_cast<std::uint64_t>(s.integer());
  file.digest = s.digest();
  return if_same(file);
}

}  // namespace gantry::store
