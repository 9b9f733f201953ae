#include "store/store.hpp"

#include <sys/stat.h>

#include <cassert>
#include <cerrno>
#include <set>

#include "store/database_file.hpp"
#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

Result<> write_update(const Database& db, RunId run, const RunUpdate& u) {
  TRY_ASSIGN(Statement * s,
             db.prepare_once("UPDATE runs SET state = ?, updated = ?, total = ?, done = ?, "
                             "reused = ?, failed = ?, cancelled = ?, running = ?, eta = ?, "
                             "eta_soonest = ?, eta_latest = ?, pid = ? WHERE id = ?"));
  s->plain_text(to_text(u.state)).integer(to_ns(u.now));
  bind_counts(*s, u.counts);
  bind_eta(*s, u.eta);
  return s->integer(u.pid).integer(run.value()).run();
}

Result<> write_file(const Database& db, const std::string& path, const KnownFile& file) {
  TRY_ASSIGN(Statement * s,
             db.prepare_once("INSERT OR REPLACE INTO file_digests (path, size, changed_ns, inode, "
                             "digest) VALUES (?,?,?,?,?)"));
  s->text(path).integer(static_cast<std::int64_t>(file.size)).integer(file.changed_ns);
  return s->integer(static_cast<std::int64_t>(file.inode)).digest(file.digest).run();
}

}  // namespace

Result<FileIdentity> FileIdentity::of(std::filesystem::path path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_errno(path.string());
  return FileIdentity{std::move(path), info.st_dev, info.st_ino};
}

Result<> FileIdentity::check() const {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (!there && errno != ENOENT && errno != ENOTDIR) return fail_errno(path.string());
  if (there && info.st_dev == device && info.st_ino == inode) return {};
  return fail(ErrorCode::gone, path.string() + ": removed or replaced while it was in use");
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& directory, Access access) {
  TRY_ASSIGN(Database db,
             access == Access::read_write ? open_to_write(directory) : open_to_read(directory));
  std::optional<EventWriter> events;
  if (access == Access::read_write) {
    TRY_ASSIGN(events, EventWriter::prepare(db));
  }
  TRY_ASSIGN(auto file, FileIdentity::of(directory / "gantry.db"));
  return Store(std::unique_ptr<Impl>(
      new Impl{std::move(db), std::move(file), access, std::move(events), PackSync(directory)}));
}

// The open group.
// ----------------------------------------------------------------------------------------

Result<> Store::append(RunId run, Event&& event) {
  assert(impl_->access == Access::read_write);
  if (!is_journalled(event)) return {};
  auto& kept = impl_->group.events.emplace_back(run, std::move(event)).second;
  if (auto* ended = std::get_if<AttemptEnded>(&kept)) ended->report.collected = {};
  return {};
}

Result<> Store::update_run(RunId run, RunState state, const Counts& counts, const Eta& eta,
                           std::int32_t pid, TimePoint now) {
  assert(impl_->access == Access::read_write);
  impl_->group.updates[run] = RunUpdate{state, counts, eta, pid, now};
  return {};
}

Result<> Store::mark_driven(RunId run) {
  assert(impl_->access == Access::read_write);
  impl_->group.driven.push_back(run);
  return {};
}

Result<> Store::remember_digest(const std::string& path, std::uint64_t size,
                                std::int64_t changed_ns, std::uint64_t inode,
                                const Digest& digest) {
  assert(impl_->access == Access::read_write);
  impl_->group.files[path] = KnownFile{size, changed_ns, inode, digest};
  return {};
}

void Store::await_on_disk(std::filesystem::path file) {
  impl_->awaited.add(std::move(file));
}

Result<> Store::commit() {
  if (impl_->group.empty()) return {};
  TRY(impl_->identity.check());
  TRY(impl_->packs.sync(impl_->group.events));
  TRY(impl_->awaited.sync());
  TRY(impl_->write_group());
  impl_->group.clear();
  return {};
}

/// Writes all or nothing; the group stays as it is either way.
Result<> Store::Impl::write_group() {
  TRY_ASSIGN(Transaction transaction, Transaction::begin(db));
  std::set<RunId> runs;
  for (const auto& [run, event] : group.events) {
    runs.insert(run);
    TRY(events->write(run, event));
    const auto* ended = std::get_if<AttemptEnded>(&event);
    if (ended != nullptr && (!ended->replaces.empty() || !ended->report.remote_files.empty()))
      TRY(write_remote_files(run, *ended));
  }
  for (const RunId run : runs) TRY(note_last(run));
  for (const auto& [run, update] : group.updates) TRY(write_update(db, run, update));
  for (const auto& [path, file] : group.files) TRY(write_file(db, path, file));
  TRY(write_learned());
  TRY(write_hosts());
  for (const RunId run : group.driven)
    TRY(db.execute("UPDATE runs SET driven = (SELECT max(driven) + 1 FROM runs) WHERE id = " +
                   std::to_string(run.value())));
  if (group.taken_requests != 0) {
    TRY(db.execute("DELETE FROM requests WHERE id <= " + std::to_string(group.taken_requests)));
  }
  return transaction.commit();
}

}  // namespace gantry::store
