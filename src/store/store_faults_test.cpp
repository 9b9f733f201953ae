// What a Store does when the disk refuses, when files are damaged or foreign, and when it is
// killed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <set>

#include "base/fd.hpp"
#include "store/database.hpp"
#include "store/faulty_disk.hpp"
#include "store/run_lock.hpp"
#include "store/schema.hpp"
#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StoreFaults : public StoreTest {
 protected:
  /// The error of opening, which must fail.
  Error refused(Access access = Access::read_write) {
    auto store = Store::open(directory_.path(), access);
    EXPECT_FALSE(store);
    return store ? Error{} : store.error();
  }
  void execute(const std::string& sql) {
    must(must(Database::open(file(), SQLITE_OPEN_READWRITE)).execute(sql));
  }
  void fill(std::uint32_t tasks) {
    Store store = open();
    const RunId run = new_run(store);
    for (std::uint32_t i = 1; i <= tasks; ++i) must(store.append(run, plain_end(run, i)));
    must(store.commit());
  }
  void overwrite(std::streamoff at, const std::string& bytes) {
    std::fstream f(file(), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(at);
    f << bytes;
  }
};

// Full disk.
// ---------------------------------------------------------------------------------------------

TEST_F(StoreFaults, KeepsTheGroupWhenTheDiskIsFullAndWritesItLater) {
  FaultyDisk disk;
  Store store = open();
  const RunId run = new_run(store);
  disk.allow(0);
  for (std::uint32_t task = 1; task <= 500; ++task) must(store.append(run, plain_end(run, task)));
  must(store.update_run(run, RunState::open, Counts{.total = 500, .done = 500}, {}, 1, from_ns(9)));
  for (int tries = 0; tries < 2; ++tries) {
    const auto full = store.commit();
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::io);
    EXPECT_THAT(full.error().message, HasSubstr("the disk is full"));
    EXPECT_THAT(full.error().hint, HasSubstr("free some disk space"));
    EXPECT_THAT(replayed(store, run), IsEmpty()) << "all or nothing";
  }
  must(store.append(run, plain_end(run, 501)));
  disk.heal();
  must(store.commit());
  EXPECT_THAT(replayed(store, run), SizeIs(501));
  EXPECT_EQ(must(store.run(run))->counts.done, 500U);
  must(store.commit());
  EXPECT_THAT(replayed(store, run), SizeIs(501)) << "the group was written once";
}

// The disk refuses from the n-th write or sync on, for each n that a series of commits (with its
// checkpoints) has: what was committed before stays, and the group goes in, once, when there is
// room again.
TEST_F(StoreFaults, LosesNothingWhereverTheDiskStartsToRefuse) {
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    bool refused_once = true;
    for (int allowed = 0; refused_once; allowed += 1 + allowed / 2) {
      refused_once = false;
      // In memory: the disk that matters is the faulty one, and real syncs would take most of the
      // time.
      const ScratchDir directory("/dev/shm");
      FaultyDisk disk;
      {
        Store store = must(Store::open(directory.path(), Access::read_write));
        const RunId run = new_run(store);
        disk.allow(allowed, code);
        for (std::uint32_t group = 0; group < 10; ++group) {
          for (std::uint32_t i = 1; i <= 60; ++i) {
            AttemptEnded e = plain_end(run, group * 60 + i);
            e.report.out.text = std::string(16'000, 'x');
            must(store.append(run, std::move(e)));
          }
          if (store.commit()) continue;
          refused_once = true;
          disk.heal();
          must(store.commit());
        }
      }
      disk.heal();
      Store again = must(Store::open(directory.path(), Access::read_write));
      const auto events = replayed(again, RunId(1));
      ASSERT_THAT(events, SizeIs(600)) << "refused after " << allowed;
      std::uint32_t expected = 0;
      for (const Event& e : events)
        ASSERT_EQ(std::get<AttemptEnded>(e).report.key.task.value(), ++expected);
    }
  }
}

/// A disk of a megabyte, mounted over `at` for this process alone. 77 when that is not allowed
/// here.
int mount_small_disk(const std::filesystem::path& at) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  return ::mount("tmpfs", at.c_str(), "tmpfs", 0, "size=1m") == 0 ? 0 : 77;
}

/// 0 when all went as it should, else the number of the step that did not.
int fill_a_real_disk(const std::filesystem::path& at) {
  if (const int code = mount_small_disk(at); code != 0) return code;
  const auto is_full = [](const Error& e) {
    return e.code == ErrorCode::io && e.hint.find("free some disk space") != std::string::npos;
  };
  std::ofstream(at / "ballast") << std::string(600'000, 'x');
  auto store = Store::open(at / "state", Access::read_write);
  if (!store) return 1;
  const RunId run = StoreTest::new_run(*store);
  std::uint32_t task = 0;
  for (bool full = false; !full;) {
    for (int i = 0; i < 100; ++i) must(store->append(run, plain_end(run, ++task)));
    const auto committed = store->commit();
    full = !committed;
    if (full && !is_full(committed.error())) return 2;
    if (task > 100'000) return 3;
  }
  if (store->commit()) return 4;
  const auto elsewhere = Store::open(at / "other", Access::read_write);
  if (elsewhere || !is_full(elsewhere.error())) return 5;
  std::filesystem::remove(at / "ballast");
  if (!store->commit()) return 6;
  std::uint32_t replayed = 0;
  must(store->replay(
      run, [&](const Event& e) { replayed += std::holds_alternative<AttemptEnded>(e) ? 1 : 0; }));
  return replayed == task ? 0 : 7;
}

TEST_F(StoreFaults, GoesOnWhenARealDiskHasRoomAgain) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fill_a_real_disk(directory_.path()));
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "may not mount a tmpfs here";
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
}

// Files that are not what they should be.
// ----------------------------------------------------------------

TEST_F(StoreFaults, SaysWhatToDoAboutADatabaseOfANewerGantry) {
  fill(1);
  execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion + 1));
  for (const Access access : {Access::read_write, Access::read_only}) {
    const Error error = refused(access);
    EXPECT_EQ(error.code, ErrorCode::version);
    EXPECT_THAT(error.message, HasSubstr(fmt::format("newer gantry (schema {}, this one knows {})",
                                                     kSchemaVersion + 1, kSchemaVersion)));
    EXPECT_THAT(error.hint, HasSubstr("upgrade"));
  }
}

TEST_F(StoreFaults, LeavesAForeignDatabaseAlone) {
  must(must(Database::open(file(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
           .execute("CREATE TABLE t (x)"));
  EXPECT_THAT(refused().message, HasSubstr("not one of gantry's"));
}

TEST_F(StoreFaults, RefusesDamageWithAWayOut) {
  const auto expect_damage = [&](const char* what) {
    for (const Access access : {Access::read_write, Access::read_only}) {
      const Error error = refused(access);
      EXPECT_EQ(error.code, ErrorCode::corrupt) << what << ": " << error.message;
      EXPECT_THAT(error.hint, HasSubstr(".dump")) << what;
    }
  };
  std::ofstream(file()) << "";
  expect_damage("empty");
  std::ofstream(file()) << std::string(8192, 'x');
  expect_damage("not a database");
  std::filesystem::remove(file());
  fill(2000);
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
  expect_damage("truncated");
}

TEST_F(StoreFaults, FindsABadPageWhenItOpensASmallDatabase) {
  fill(2000);
  overwrite(20 * 4096, std::string(4096, '\x5a'));
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::corrupt) << error.message;
}

TEST_F(StoreFaults, FindsABadPageWhenItReads) {
  fill(2000);
  overwrite(40 * 4096, std::string(4096, '\x5a'));
  const Store store = open(Access::read_only);
  const auto read = store.replay(RunId(1), [](const Event&) {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt) << read.error().message;
}

TEST_F(StoreFaults, FindsEventsThatMakeNoSense) {
  for (const std::string damage : {"parameters = '{\"a\"'", "exact = x'ff'", "data = '[1,'"}) {
    fill(1);
    execute("UPDATE events SET " + damage);
    const auto read = open().history(RunId(1), TaskId(1));
    ASSERT_FALSE(read) << damage;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
    std::filesystem::remove(file());
  }
}

TEST_F(StoreFaults, RefusesToReplayAKindItDoesNotKnow) {
  fill(1);
  execute("UPDATE events SET kind = 'nonsense'");
  const auto read = open().replay(RunId(1), [](const Event&) {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
}

TEST_F(StoreFaults, SaysThatThereIsNothingToRead) {
  EXPECT_EQ(refused(Access::read_only).code, ErrorCode::usage);
  EXPECT_THAT(refused(Access::read_only).message, HasSubstr("no runs here yet"));
  EXPECT_THAT(refused(Access::read_only).hint, HasSubstr("gantry run"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << "looking creates nothing";
}

/// Runs `body` as a user whom file permissions bind; root would not notice a read-only directory.
template <class Body>
int in_child_without_root(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(99);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(StoreFaults, SaysThatADirectoryIsReadOnly) {
  ::chmod(directory_.path().c_str(), 0555);
  const auto refuses = [&] {
    const auto store = Store::open(directory_.path(), Access::read_write);
    const auto below = Store::open(directory_.path() / "below", Access::read_write);
    const auto lock = RunLock::acquire(directory_.path());
    const auto clear = [](const Error& e) {
      return e.code == ErrorCode::io && e.message.find("Permission denied") != std::string::npos &&
             e.hint.find("--state DIR") != std::string::npos;
    };
    return store || below || lock || !clear(store.error()) || !clear(below.error()) ||
                   !clear(lock.error())
               ? 1
               : 0;
  };
  EXPECT_EQ(in_child_without_root(refuses), 0);
  ::chmod(directory_.path().c_str(), 0755);
}

TEST_F(StoreFaults, ReadsWhatLiesInAReadOnlyDirectory) {
  fill(3);
  ::chmod(file().c_str(), 0444);
  ::chmod(directory_.path().c_str(), 0555);
  EXPECT_EQ(in_child_without_root([&] {
              const auto reader = Store::open(directory_.path(), Access::read_only);
              const auto writer = Store::open(directory_.path(), Access::read_write);
              if (!reader || writer || writer.error().code != ErrorCode::io) return 1;
              return replayed(*reader, RunId(1)).size() == 3 ? 0 : 2;
            }),
            0);
  ::chmod(directory_.path().c_str(), 0755);
}

// kill -9.
// -----------------------------------------------------------------------------------------------

/// Appends and commits for ever; says through `out` how many tasks are committed.
[[noreturn]] void write_until_killed(const std::filesystem::path& directory, int out) {
  auto store = Store::open(directory, Access::read_write);
  if (!store) ::_exit(3);
  std::uint32_t next = 1;
  const auto count = [&](const Event& e) {
    if (std::holds_alternative<AttemptEnded>(e)) ++next;
  };
  if (!store->replay(RunId(1), count)) ::_exit(4);
  for (;;) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      AttemptEnded e = plain_end(RunId(1), next++);
      e.report.out.text = std::string(next % 7 * 300, 'x');
      if (!store->append(RunId(1), std::move(e))) ::_exit(5);
    }
    if (!store->commit()) ::_exit(6);
    const std::uint32_t committed = next - 1;
    if (::write(out, &committed, sizeof committed) != sizeof committed) ::_exit(7);
  }
}

TEST_F(StoreFaults, KeepsEveryCommittedGroupThroughKills) {
  {
    Store store = open();
    new_run(store);
  }
  std::mt19937 random(7);
  std::uint32_t promised = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(directory_.path(), ends[1]);
    ::close(ends[1]);
    const UniqueFd reports(ends[0]);
    // Let some groups through, then strike in the middle of whatever it does.
    for (auto groups = random() % 12; groups > 0; --groups) {
      ASSERT_EQ(::read(reports.get(), &promised, sizeof promised), ssize_t{sizeof promised});
    }
    ::usleep(static_cast<useconds_t>(random() % 4000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(reports.get(), &promised, sizeof promised) == ssize_t{sizeof promised}) {
    }
    const Store store = open(round % 2 == 0 ? Access::read_only : Access::read_write);
    const auto events = replayed(store, RunId(1));
    ASSERT_GE(events.size(), promised);
    ASSERT_EQ(events.size() % 20, 0U) << "groups are whole";
    std::set<std::uint32_t> tasks;
    for (const Event& e : events) tasks.insert(std::get<AttemptEnded>(e).report.key.task.value());
    ASSERT_EQ(tasks.size(), events.size()) << "no end twice";
    ASSERT_EQ(*tasks.rbegin(), events.size());
  }
  EXPECT_GT(promised, 0U);
  EXPECT_EQ(
      must(must(Database::open(file(), SQLITE_OPEN_READWRITE)).string("PRAGMA integrity_check")),
      "ok");
}

// Migration.
// ---------------------------------------------------------------------------------------------

TEST(Schema, MigratesStepByStepOrNotAtAll) {
  const Database db = must(Database::in_memory());
  must(db.execute("PRAGMA user_version = 1"));
  const Migration good[] = {"CREATE TABLE a (x)", "CREATE TABLE b (y); INSERT INTO a VALUES (1)"};
  const Migration bad[] = {"CREATE TABLE a (x)", "CREATE TABLE b (y); nonsense"};
  EXPECT_FALSE(migrate(db, 1, bad));
  EXPECT_EQ(must(db.integer("PRAGMA user_version")), 1);
  EXPECT_EQ(must(db.integer("SELECT count(*) FROM sqlite_schema")), 0);
  must(migrate(db, 1, good));
  EXPECT_EQ(must(db.integer("PRAGMA user_version")), 3);
  EXPECT_EQ(must(db.integer("SELECT count(*) FROM a")), 1);
  must(migrate(db, 3, good));
  EXPECT_EQ(must(db.integer("SELECT count(*) FROM a")), 1) << "done once";
}

TEST(Schema, RunsOfVersionOneCountInTheirOrder) {
  const Database db = must(Database::in_memory());
  must(
      db.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY); INSERT INTO runs VALUES (3), (5);"
                 "CREATE TABLE requests (id INTEGER PRIMARY KEY);"
                 "CREATE TABLE events (seq INTEGER PRIMARY KEY);"
                 "CREATE TABLE sources (run INTEGER PRIMARY KEY);"
                 "PRAGMA user_version = 1"));
  must(migrate(db, 1, migrations()));
  EXPECT_EQ(must(db.integer("SELECT id FROM runs ORDER BY driven DESC LIMIT 1")), 5);
  EXPECT_EQ(must(db.integer("SELECT count(*) FROM remote_files")), 0);
}

TEST(Schema, StepsLeadToTheNewestVersion) {
  EXPECT_EQ(static_cast<std::int64_t>(migrations().size()) + 1, kSchemaVersion);
}

}  // namespace
}  // namespace gantry::store
