#include "query/last_forecast.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "query/query_fixture.hpp"
#include "store/run_lock.hpp"

namespace gantry::query {
namespace {

class LastForecastTest : public QueryTest {
 protected:
  LastForecastTest() : first_(create_run(4)), second_(create_run(4)) {}

  void keep(RunId run, const std::string& text, TimePoint at) {
    ASSERT_TRUE(store_.learn(std::string(store::kForecastsKind),
                             {std::to_string(run.value()), at, text}, store::kMostForecasts));
    ASSERT_TRUE(store_.commit());
  }
  static std::string kept(RunId run) { return store::live_text({.run = run.value()}); }
  std::uint32_t newest() { return newest_forecast(dir_.path())->state.value_or(none_).run; }

  store::LiveState none_{};
  RunId first_;
  RunId second_;
};

TEST_F(LastForecastTest, TheNewestThatCanBeRead) {
  EXPECT_EQ(newest(), 0U);
  keep(first_, kept(first_), from_ns(7));
  keep(second_, "damaged", from_ns(8));
  EXPECT_EQ(newest(), first_.value());
  keep(second_, kept(second_), from_ns(8));
  EXPECT_EQ(newest(), second_.value());
  EXPECT_EQ(forecast_of(dir_.path(), "1")->state->run, first_.value());
  EXPECT_FALSE(forecast_of(dir_.path(), "1")->goes_on);
}

TEST_F(LastForecastTest, ARunThatWasKilledHasNoEndToCome) {
  keep(second_, kept(second_), from_ns(8));
  store::LiveState live = live_example(first_);
  live.ends = from_ns(99'000'000'000);
  write_live(live);
  const auto found = newest_forecast(dir_.path()).value();
  EXPECT_EQ(found.state->run, first_.value());
  EXPECT_FALSE(found.goes_on);
  EXPECT_EQ(found.state->ends, kNever);
  EXPECT_EQ(forecast_of(dir_.path(), "2")->state->run, second_.value());
}

TEST_F(LastForecastTest, ARunThatGoesOnShowsItsOwn) {
  store::LiveState live = live_example(first_);
  live.pid = ::getpid();
  live.ends = from_ns(99'000'000'000);
  write_live(live);
  const auto lock = store::RunLock::acquire(dir_.path());
  ASSERT_TRUE(lock);
  const auto found = newest_forecast(dir_.path()).value();
  EXPECT_TRUE(found.goes_on);
  EXPECT_EQ(found.state->ends, live.ends);
}

}  // namespace
}  // namespace gantry::query
