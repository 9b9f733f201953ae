#include "driver/kept_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/driver_fixture.hpp"
#include "engine/one_run.hpp"
#include "forecast/grid_forecast.hpp"

namespace gantry::driver {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class KeptWaitsTest : public DriverTest {
 protected:
  KeptWaitsTest() {
    grid_.sites.resize(2);
    grid_.sites[1].name = "c1";
    grid_.sites[1].access = SiteAccess::slurm;
  }
  static TimePoint moment(int second) { return from_ns(1'794'883'000'000'000'000) + second * 1s; }
  std::string recall(engine::OneRun& engine, int now = 100) {
    return recall_waits(open_store(), grid_.sites[1], SiteId(1), engine, moment(now));
  }
  void keep(const engine::OneRun& engine) {
    auto store = open_store();
    ASSERT_TRUE(keep_waits(store, grid_, engine, moment(50)));
    ASSERT_TRUE(store.commit());
  }

  Grid grid_;
  engine::OneRun first_{{.count = 1}, {}};
  engine::OneRun second_{{.count = 1}, {}};
};

TEST_F(KeptWaitsTest, TheNextRunKnowsThem) {
  for (int i = 0; i < 5; ++i) first_.apply(QueueWaited{SiteId(1), 30.0 + i, moment(i)});
  keep(first_);
  EXPECT_EQ(recall(second_), "");
  ASSERT_NE(second_.seen().queue(SiteId(1)), nullptr);
  EXPECT_EQ(second_.seen().queue(SiteId(1))->recent(), first_.seen().queue(SiteId(1))->recent());
  grid_.sites[1].batch.queue = "other";  // of which nothing is known
  engine::OneRun third({.count = 1}, {});
  EXPECT_EQ(recall(third), "");
  EXPECT_EQ(third.seen().queue(SiteId(1)), nullptr);
}

TEST_F(KeptWaitsTest, NothingIsKeptOfWhatNobodyKnows) {
  keep(first_);
  EXPECT_THAT(open_store().learned("queue waits").value(), testing::IsEmpty());
}

TEST_F(KeptWaitsTest, WhatIsYetToComeDoesNotCount) {
  for (int i = 0; i < 5; ++i) first_.apply(QueueWaited{SiteId(1), 30, moment(i)});
  keep(first_);
  EXPECT_EQ(recall(second_, 2), "");
  EXPECT_EQ(second_.seen().queue(SiteId(1))->recent().size(), 3U);
}

TEST_F(KeptWaitsTest, WhatIsDamagedIsToldAndLeftOut) {
  first_.apply(QueueWaited{SiteId(1), 30, moment(1)});
  keep(first_);
  const std::string name = open_store().learned("queue waits").value()[0].name;
  for (const std::string text :
       {"", "[", "{}", R"({"version":2,"waits":[]})", R"({"version":1,"waits":[[1]]})",
        R"({"version":1,"waits":[["a",1]]})", R"({"version":1,"waits":7})"}) {
    auto store = open_store();
    ASSERT_TRUE(store.learn("queue waits", {name, moment(60), text}));
    ASSERT_TRUE(store.commit());
    EXPECT_THAT(recall(second_), HasSubstr("queue of c1 is not used: it is damaged")) << text;
    EXPECT_EQ(second_.seen().queue(SiteId(1)), nullptr);
  }
}

}  // namespace
}  // namespace gantry::driver
