#include "store/pack_sync.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/fd.hpp"
#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

AttemptEnded packed_end(RunId run, std::uint32_t task, std::string out, std::string err = "") {
  AttemptEnded ended = plain_end(run, task);
  ended.report.out.pack = std::move(out);
  ended.report.err.pack = std::move(err);
  return ended;
}

TEST(PackSync, SyncsEachPackOnceAndItsNameTheFirstTime) {
  std::vector<std::string> synced;
  PackSync packs("/s", [&](const std::filesystem::path& path) -> Result<> {
    synced.push_back(path.string());
    return {};
  });
  const RunId run(1);
  must(packs.sync({{run, plain_end(run, 1)},
                   {run, packed_end(run, 2, "run-1/slot-0.out", "run-1/slot-0.err")},
                   {run, packed_end(run, 3, "run-1/slot-0.out")}}));
  EXPECT_THAT(synced,
              ElementsAre("/s/output/run-1/slot-0.err", "/s/output/run-1", "/s/output", "/s",
                          "/s/output/run-1/slot-0.out", "/s/output/run-1", "/s/output", "/s"));
  synced.clear();
  must(packs.sync({{run, packed_end(run, 4, "run-1/slot-0.out")}}));
  EXPECT_THAT(synced, ElementsAre("/s/output/run-1/slot-0.out"));
}

using PackCommitTest = StoreTest;

TEST_F(PackCommitTest, AnEndWaitsForItsOutput) {
  Store store = open();
  const RunId run = new_run(store);
  const auto folder = directory_.path() / "output/run-1";
  const auto pack = folder / "slot-0.out";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("elsewhere", pack);  // not to be trusted, so not to be synced
  must(store.append(run, packed_end(run, 1, "run-1/slot-0.out")));
  const auto refused = store.commit();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("slot-0.out"));
  EXPECT_THAT(replayed(store, run), SizeIs(0));
  std::filesystem::remove(pack);
  must(write_file_atomic(pack, "output"));
  must(store.commit());
  EXPECT_THAT(replayed(store, run), SizeIs(1));
}

TEST_F(PackCommitTest, AnEndDoesNotWaitForOutputThatIsGone) {
  Store store = open();
  const RunId run = new_run(store);
  must(store.append(run, packed_end(run, 1, "run-1/slot-0.out")));
  must(store.commit());
  EXPECT_THAT(replayed(store, run), SizeIs(1));
}

}  // namespace
}  // namespace gantry::store
