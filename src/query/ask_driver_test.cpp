#include "query/ask_driver.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "query/query_fixture.hpp"
#include "store/run_lock.hpp"

namespace gantry::query {
namespace {

class AskDriverTest : public QueryTest {
 protected:
  AskDriverTest() : run_(create_run(3)) {}
  Answer ask() {
    return ask_driver(dir_.path(), store_, {.run = run_, .all = true}, ::getpid()).value();
  }
  RunId run_;
};

TEST_F(AskDriverTest, ARequestIsWithdrawnWhenNobodyIsThere) {
  EXPECT_EQ(ask(), Answer::gone);
  EXPECT_TRUE(store_.take_requests()->empty()) << "the next gantry must not cancel";
}

TEST_F(AskDriverTest, ADriverTakesIt) {
  const auto lock = store::RunLock::acquire(dir_.path());
  ASSERT_TRUE(lock);
  std::jthread driver([&] {
    auto store = store::Store::open(dir_.path(), store::Access::read_write).value();
    for (;;) {
      const auto requests = store.take_requests().value();
      if (requests.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      EXPECT_EQ(requests.front().run, run_);
      EXPECT_TRUE(store.commit());
      return;
    }
  });
  EXPECT_EQ(ask(), Answer::taken);
}

}  // namespace
}  // namespace gantry::query
