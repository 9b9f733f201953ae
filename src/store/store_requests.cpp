// Store: what other processes ask for, and the digests of files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "store/json_text.hpp"
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

/// By name, so that what a newer gantry asks for in addition is passed over.
std::string study_bytes(const StudyRequest& study) {
  const SpecSource& source = study.source;
  Pairs pairs{{"one_liner", source.one_liner ? "1" : ""},
              {"path", source.path},
              {"base_dir", source.base_dir},
              {"text", source.text},
              {"weight", fmt::format("{}", study.weight)}};
  for (const std::string& word : source.args) pairs.emplace_back("arg", word);
  for (const auto& [name, content] : source.data) {
    pairs.emplace_back("data", name);
    pairs.emplace_back("content", content);
  }
  std::string bytes;
  frame_pairs(pairs, bytes);
  return bytes;
}

std::optional<StudyRequest> read_study(std::string_view bytes) {
  const auto pairs = unframe_pairs(bytes);
  if (!pairs) return std::nullopt;
  StudyRequest study;
  SpecSource& source = study.source;
  for (const auto& [name, value] : *pairs) {
    if (name == "one_liner") source.one_liner = !value.empty();
    if (name == "path") source.path = value;
    if (name == "base_dir") source.base_dir = value;
    if (name == "text") source.text = value;
    if (name == "arg") source.args.push_back(value);
    if (name == "data") source.data.emplace_back(value, "");
    if (name == "content" && !source.data.empty()) source.data.back().second = value;
    if (name == "weight") std::from_chars(value.data(), value.data() + value.size(), study.weight);
  }
  constexpr double kMost = 1e6;
  const bool makes_sense = study.weight >= 1 / kMost && study.weight <= kMost;
  return makes_sense ? std::optional(std::move(study)) : std::nullopt;
}

}  // namespace

Result<std::int64_t> Store::post(const Request& request) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Statement s,
             db.prepare("INSERT INTO requests (run, tasks, sites, study) VALUES (?,?,?,?)"));
  std::string tasks;
  write_task_list(request.all, request.tasks, tasks);
  TRY_ASSIGN(const std::string sites, sites_text(request));
  const std::string study = request.study ? study_bytes(*request.study) : "";
  s.integer(request.run.value()).plain_text(tasks).text(sites);
  request.study ? s.blob(study) : s.null();
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
  {
    TRY_ASSIGN(Statement * version, impl.db.prepare_once("PRAGMA data_version"));
    const Statement::Scope scope(*version);
    TRY(version->step());
    const std::int64_t now = version->integer();
    // Changes with each commit of another connection, never with our own.
    if (now == impl.seen_data_version) return requests;
    impl.seen_data_version = now;
  }
  TRY_ASSIGN(Statement s,
             impl.db.prepare(
                 "SELECT id, run, tasks, sites, study FROM requests WHERE id > ? ORDER BY id"));
  s.integer(impl.last_request);
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return requests;
    Request& request = requests.emplace_back();
    request.id = s.integer();
    request.run = RunId(s.number<std::uint32_t>());
    impl.last_request = impl.group.taken_requests = request.id;
    bool makes_sense = read_task_list(s.bytes(), request.all, request.tasks);
    read_sites(s.bytes(), request);
    if (!s.is_null()) {
      request.study = read_study(s.bytes());
      makes_sense = makes_sense && request.study;
    }
    if (!makes_sense) requests.pop_back();
  }
}

Result<> Store::answer(std::int64_t request, const Result<RunId>& run) {
  TRY_ASSIGN(Statement s, impl_->db.prepare("INSERT OR REPLACE INTO answers "
                                            "(request, run, message, hint) VALUES (?,?,?,?)"));
  const Error none;
  const Error& error = run ? none : run.error();
  s.integer(request).integer(run ? run->value() : 0).text(error.message).text(error.hint);
  return s.run();
}

Result<std::optional<Result<RunId>>> Store::take_answer(std::int64_t request) {
  const Database& db = impl_->db;
  std::optional<Result<RunId>> answer;
  {
    TRY_ASSIGN(Statement s, db.prepare("SELECT run, message, hint FROM answers WHERE request = ?"));
    TRY_ASSIGN(const bool there, s.integer(request).step());
    if (!there) return answer;
    const RunId run(s.number<std::uint32_t>());
    std::string message = s.string();
    if (run != RunId{})
      answer = run;
    else
      answer = fail(ErrorCode::peer, std::move(message), s.string());
  }
  TRY_ASSIGN(Statement s, db.prepare("DELETE FROM answers WHERE request = ?"));
  TRY(s.integer(request).run());
  return answer;
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
  TRY_ASSIGN(Statement * s, impl_->db.prepare_once("SELECT size, changed_ns, inode, digest "
                                                   "FROM file_digests WHERE path = ?"));
  const Statement::Scope scope(*s);
  TRY_ASSIGN(const bool found, s->text(path).step());
  if (!found) return std::nullopt;
  KnownFile file;
  file.size = static_cast<std::uint64_t>(s->integer());
  file.changed_ns = s->integer();
  file.inode = static_cast<std::uint64_t>(s->integer());
  file.digest = s->digest();
  return if_same(file);
}

}  // namespace gantry::store
