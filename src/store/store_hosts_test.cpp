// What recovery needs besides events: hosts that were given attempts, and facts that older journals
// held as text.
#include <gmock/gmock.h>

#include "store/database.hpp"
#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StoreHostsTest : public StoreTest {
 protected:
  /// As another process sees them.
  std::set<SiteHost> given(RunId run) { return must(open(Access::read_only).given_hosts(run)); }
};

TEST_F(StoreHostsTest, HostsThatWereGivenAttemptsAreKnownFromTheCommitOn) {
  Store store = open();
  const RunId run = new_run(store);
  const RunId other = new_run(store);
  store.give(run, {"lab", "b"});
  store.give(run, {"lab", "a"});
  store.give(run, {"lab", "a"});
  store.give(run, {"\xff", "a"});
  store.give(other, {"lab", "c"});
  EXPECT_THAT(given(run), IsEmpty());
  must(store.commit());
  EXPECT_THAT(given(run),
              ElementsAre(SiteHost{"lab", "a"}, SiteHost{"lab", "b"}, SiteHost{"\xff", "a"}));
  store.give(run, {"lab", "a"});  // in a later session
  must(store.commit());
  EXPECT_EQ(given(run).size(), 3U);
}

TEST_F(StoreHostsTest, HostsThatAreFreeAreForgotten) {
  Store store = open();
  const RunId run = new_run(store);
  const RunId other = new_run(store);
  for (const char* host : {"a", "b", "c"}) store.give(run, {"lab", host});
  store.give(other, {"lab", "a"});
  must(store.commit());
  store.release(run, {"lab", "b"});
  must(store.commit());
  EXPECT_THAT(given(run), ElementsAre(SiteHost{"lab", "a"}, SiteHost{"lab", "c"}));
  store.give(run, {"lab", "b"});
  store.release_all(run);
  store.give(run, {"lab", "d"});  // after that
  must(store.commit());
  EXPECT_THAT(given(run), ElementsAre(SiteHost{"lab", "d"}));
  EXPECT_THAT(given(other), ElementsAre(SiteHost{"lab", "a"}));
}

TEST_F(StoreHostsTest, ARunThatIsRemovedLeavesNone) {
  Store store = open();
  const RunId run = new_run(store);
  store.give(run, {"lab", "a"});
  must(store.commit());
  store.give(run, {"lab", "b"});
  must(store.remove_run(run));
  must(store.commit());
  EXPECT_THAT(given(run), IsEmpty());
}

/// One that died of memory, and a success whose input changed meanwhile.
std::vector<AttemptEnded> remarkable_ends(RunId run) {
  AttemptEnded died = plain_end(run, 1);
  died.report.cause = FailureCause::out_of_memory;
  died.report.detail = "limit 2048 MiB; tried again with 4 GiB";
  died.report.memory_limit = std::uint64_t{2} << 30U;
  AttemptEnded changed = plain_end(run, 2);
  changed.report.detail = "an input changed while it ran: /data/m: 2";
  changed.changed_input = "/data/m: 2";
  return {died, changed};
}

class EndFactsTest : public StoreTest {
 protected:
  void SetUp() override {
    Store store = open();
    run_ = new_run(store);
    for (const auto& end : remarkable_ends(run_)) must(store.append(run_, end));
    must(store.append(run_, plain_end(run_, 3)));
    must(store.commit());
  }

  void check() {
    const Store store = open();
    const auto end_of = [&](std::uint32_t task) {
      return must(store.history(run_, TaskId(task))).at(0);
    };
    EXPECT_EQ(end_of(1).report.memory_limit, std::uint64_t{2} << 30U);
    EXPECT_EQ(end_of(1).changed_input, "");
    EXPECT_EQ(end_of(2).changed_input, "/data/m: 2");
    EXPECT_EQ(end_of(2).report.memory_limit, 0U);
    EXPECT_EQ(end_of(3).changed_input, "");
    // The limit is part of the run's state: a task must not be tried with the same for ever.
    const auto events = replayed(store, run_);
    ASSERT_EQ(events.size(), 3U);
    const auto& died = std::get<AttemptEnded>(events[0]);
    EXPECT_EQ(died.report.memory_limit, std::uint64_t{2} << 30U);
    EXPECT_EQ(died.host, HostId(1));
    EXPECT_EQ(died.fingerprint, print_of(1));
  }

  void execute(const std::string& sql) {
    must(must(Database::open(file(), SQLITE_OPEN_READWRITE)).execute(sql));
  }

  RunId run_;
};

TEST_F(EndFactsTest, ComeBack) {
  execute("UPDATE events SET detail = NULL");
  check();
}

TEST_F(EndFactsTest, AJournalOfVersionSixIsReadAndGoesOn) {
  execute(
      "ALTER TABLE events DROP COLUMN memory_limit;"
      "ALTER TABLE events DROP COLUMN changed_input;"
      "ALTER TABLE runs DROP COLUMN study;"
      "ALTER TABLE runs DROP COLUMN last_seq;"
      "ALTER TABLE sources DROP COLUMN numbering;"
      "ALTER TABLE sources DROP COLUMN data;"
      "ALTER TABLE requests DROP COLUMN study;"
      "DROP TABLE given_hosts; DROP TABLE answers; DROP TABLE snapshots; DROP TABLE result_index;"
      "PRAGMA user_version = 6");
  check();
  Store store = open();
  store.give(run_, {"lab", "a"});
  AttemptEnded died = remarkable_ends(run_)[0];
  died.report.key.attempt = AttemptId(2);
  died.report.memory_limit = std::uint64_t{4} << 30U;
  must(store.append(run_, died));
  must(store.commit());
  EXPECT_EQ(must(store.history(run_, TaskId(1))).at(1).report.memory_limit,
            std::uint64_t{4} << 30U);
  EXPECT_EQ(must(store.given_hosts(run_)).size(), 1U);
}

TEST_F(EndFactsTest, TextThatOnlyLooksLikeOneIsNone) {
  const auto limit_said_by = [&](const std::string& detail, FailureCause cause) {
    execute("UPDATE events SET memory_limit = NULL, cause = " +
            std::to_string(static_cast<int>(cause)) + ", detail = '" + detail + "' WHERE task = 1");
    return must(open().history(run_, TaskId(1))).at(0).report.memory_limit;
  };
  const auto died = FailureCause::out_of_memory;
  EXPECT_EQ(limit_said_by("limit 64 MiB", died), std::uint64_t{64} << 20U);
  for (const char* other :
       {"", "limit", "limit ", "limit x MiB", "limit -3 MiB", "limit 5 s",
        "limit 99999999999999999999 MiB", "limit 9999999999999 MiB", "the limit 5 MiB"})
    EXPECT_EQ(limit_said_by(other, died), 0U) << other;
  EXPECT_EQ(limit_said_by("limit 64 MiB", FailureCause::timeout), 0U);
  execute(
      "UPDATE events SET changed_input = NULL, cause = 1,"
      " detail = 'an input changed while it ran: x' WHERE task = 2");
  EXPECT_EQ(must(open().history(run_, TaskId(2))).at(0).changed_input, "");
}

}  // namespace
}  // namespace gantry::store
