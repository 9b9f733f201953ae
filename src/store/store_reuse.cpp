// Store: earlier results that a task may take over.
#include <fmt/format.h>

#include <algorithm>

#include "store/result_index.hpp"
#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

/// Looks at the events that the index names.
class Candidates {
 public:
  /// `except`: nothing that this run has made.
  static Result<Candidates> prepare(const Database& db, const ResultIndex& index, RunId except) {
    TRY_ASSIGN(Statement read,
               db.prepare("SELECT run, kind, task, attempt, from_run, from_task, from_attempt, "
                          "command_digest, environment_digest, inputs_digest, cause "
                          "FROM events WHERE seq = ?"));
    TRY_ASSIGN(Statement has,
               db.prepare("SELECT 1 FROM events WHERE run = ? AND task = ? AND attempt = ?"));
    return Candidates(index, except, std::move(read), std::move(has));
  }

  /// Takes what this event holds into `earlier`. REQUIRES: those after it were looked at before.
  Result<> look_at(std::int64_t seq, const Fingerprint& wanted, Store::Earlier& earlier) {
    Fingerprint print;
    TRY_ASSIGN(const auto found, read(seq, print));
    const bool similar =
        found && print.command == wanted.command && print.environment == wanted.environment;
    if (!similar) return {};
    // Without the inputs' digest, an input changed while it ran.
    const bool same = print.inputs == wanted.inputs && !print.inputs.empty();
    if (same && !earlier.same) earlier.same = found;
    if (!found->unread && !earlier.similar) earlier.similar = found;
    return {};
  }

 private:
  Candidates(const ResultIndex& index, RunId except, Statement read, Statement has)
      : index_(index), except_(except), read_(std::move(read)), has_(std::move(has)) {}

  /// Nothing when there is no such event any more, or its result was taken back.
  Result<std::optional<Reusable>> read(std::int64_t seq, Fingerprint& print) {
    const Statement::Scope scope(read_);
    TRY_ASSIGN(const bool there, read_.integer(seq).step());
    if (!there) return std::nullopt;
    Reusable found;
    found.run = RunId(read_.number<std::uint32_t>());
    const std::string_view kind = read_.bytes();
    const bool copy = kind == "reused";
    if (!copy && kind != "ended") return std::nullopt;
    found.task = TaskId(read_.number<std::uint32_t>());
    found.attempt = AttemptId(read_.number<std::uint32_t>());
    if (index_.taken_back(found.run, found.task) > seq) return std::nullopt;
    const Reusable origin{RunId(read_.number<std::uint32_t>()),
                          TaskId(read_.number<std::uint32_t>()),
                          AttemptId(read_.number<std::uint32_t>())};
    print.command = read_.digest();
    print.environment = read_.digest();
    print.inputs = read_.digest();
    found.unread = read_.number<std::uint8_t>() != static_cast<std::uint8_t>(FailureCause::none);
    if (!copy) return found;
    // Also not by way of a copy.
    if (origin.run == except_ || index_.taken_back(origin.run, origin.task) > seq)
      return std::nullopt;
    // Events of a run that was removed are there as long as others refer to them.
    TRY_ASSIGN(const bool has_origin, has(origin));
    if (!has_origin) return found;
    return Reusable{origin.run, origin.task, origin.attempt, found.run, found.task, found.unread};
  }

  Result<bool> has(const Reusable& attempt) {
    const Statement::Scope scope(has_);
    has_.integer(attempt.run.value()).integer(attempt.task.value());
    return has_.integer(attempt.attempt.value()).step();
  }

  const ResultIndex& index_;
  RunId except_;
  Statement read_;
  Statement has_;
};

}  // namespace

Result<const ResultIndex*> Store::Impl::results() {
  TRY_ASSIGN(const std::int64_t last, db.integer("SELECT coalesce(max(seq), 0) FROM events"));
  if (!result_index || indexed != last) {
    const bool stores = access == Access::read_write && !db.in_transaction();
    TRY_ASSIGN(result_index, ResultIndex::open(db, stores ? ResultIndex::Growth::stored
                                                          : ResultIndex::Growth::none));
    indexed = last;
  }
  return &*result_index;
}

Result<bool> Store::has_results() const {
  TRY_ASSIGN(const ResultIndex* index, impl_->results());
  return !index->empty();
}

Result<> Store::index_results() {
  TRY(impl_->results());
  return {};
}

Result<std::vector<Store::Earlier>> Store::earlier_results(std::span<const Fingerprint> prints,
                                                           RunId except) const {
  TRY_ASSIGN(const ResultIndex* index, impl_->results());
  std::vector<ResultIndex::Wanted> wanted(prints.size());
  for (std::uint32_t i = 0; i < prints.size(); ++i) wanted[i] = {ResultIndex::key_of(prints[i]), i};
  std::ranges::sort(wanted);
  std::vector<std::pair<std::uint32_t, std::int64_t>> places;  // of which fingerprint, and where
  TRY(index->find(wanted, [&](const auto& want, const auto& place) {
    if (place.run != except) places.emplace_back(want.index, place.seq);
  }));
  std::ranges::sort(places, std::greater{});  // the latest of each first
  std::vector<Earlier> earlier(prints.size());
  TRY_ASSIGN(Candidates candidates, Candidates::prepare(impl_->db, *index, except));
  for (const auto& [i, seq] : places) {
    if (earlier[i].same && earlier[i].similar) continue;
    TRY(candidates.look_at(seq, prints[i], earlier[i]));
  }
  return earlier;
}

Result<std::vector<std::pair<std::string, std::string>>> Store::results_of(
    const Reusable& source) const {
  const bool copy = source.copy_run != RunId{} || source.attempt == AttemptId{};
  TRY_ASSIGN(
      Statement * statement,
      impl_->db.prepare_once(
          copy ? "SELECT results, exact FROM events WHERE run = ? AND task = ? AND attempt IS NULL "
                 "AND kind = 'reused' ORDER BY seq DESC LIMIT 1"
               : "SELECT results, exact FROM events WHERE run = ? AND task = ? AND attempt = ?"));
  Statement& s = *statement;
  const Statement::Scope scope(s);
  s.integer(source.holder().value()).integer(source.held_as().value());
  if (!copy) s.integer(source.attempt.value());
  TRY_ASSIGN(const bool found, s.step());
  if (!found) {
    return fail(ErrorCode::usage, fmt::format("run {} holds no result of task {}",
                                              source.run.value(), source.task.value()));
  }
  Pairs results;
  if (!read_results(s, results)) return fail_event(impl_->db);
  return results;
}

}  // namespace gantry::store
