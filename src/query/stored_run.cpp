#include "query/stored_run.hpp"

#include <fmt/format.h>

#include "model/visible_text.hpp"
#include "query/selector.hpp"

namespace gantry::query {
namespace {

tl::unexpected<Error> no_runs(const std::filesystem::path& state_dir) {
  return fail(ErrorCode::usage,
              fmt::format("there are no runs in {}", one_line(state_dir.string())),
              "start one with 'gantry run', go to the directory where you did, or name it with "
              "--state DIR");
}

}  // namespace

Result<store::Store> open_store(const std::filesystem::path& state_dir, store::Access access) {
  std::error_code ignored;
  if (!std::filesystem::exists(state_dir / "gantry.db", ignored)) return no_runs(state_dir);
  return store::Store::open(state_dir, access);
}

Result<StoredRuns> open_runs(const std::filesystem::path& state_dir, std::string_view selector,
                             store::Access access) {
  TRY_ASSIGN(const RunSelector which, parse_run_selector(selector));
  TRY_ASSIGN(store::Store store, open_store(state_dir, access));
  std::vector<store::RunRecord> records;
  if (which.kind == RunSelector::Kind::all) {
    TRY_ASSIGN(records, store.runs());
    return StoredRuns{std::move(store), std::move(records)};
  }
  const bool last = which.kind == RunSelector::Kind::last;
  TRY_ASSIGN(auto record, last ? store.last_run() : store.run(which.id));
  if (!record && last) return no_runs(state_dir);
  if (!record)
    return fail(ErrorCode::usage, fmt::format("there is no run {}", which.id.value()),
                "'gantry runs' lists them");
  records.push_back(std::move(*record));
  return StoredRuns{std::move(store), std::move(records)};
}

Result<StoredRun> open_run(const std::filesystem::path& state_dir, std::string_view selector,
                           store::Access access) {
  if (selector == "all")
    return fail(ErrorCode::usage, "this command is about one run, not all",
                "name it: last, or its number");
  TRY_ASSIGN(auto found, open_runs(state_dir, selector, access));
  return StoredRun{std::move(found.store), std::move(found.records.front())};
}

}  // namespace gantry::query
