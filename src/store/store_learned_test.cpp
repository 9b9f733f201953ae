#include <gtest/gtest.h>

#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

TEST_F(StoreTest, WhatWasLearntIsThereForTheNextRun) {
  {
    Store store = open();
    must(store.learn("link", {"lab", from_ns(5), R"({"bandwidth":1})"}));
    must(store.learn("link", {"lab", from_ns(7), R"({"bandwidth":2})"}));
    must(store.learn("link", {"a farm's\n\xff", from_ns(6), "{}"}));
    must(store.learn("host", {"lab", from_ns(8), "[]"}));
    must(store.commit());
    must(store.learn("link", {"not committed", from_ns(9), "{}"}));
  }
  const Store store = open(Access::read_only);
  const auto links = must(store.learned("link"));
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].name, "lab");
  EXPECT_EQ(links[0].value, R"({"bandwidth":2})");
  EXPECT_EQ(links[0].updated, from_ns(7));
  EXPECT_EQ(links[1].name, "a farm's\n\xff");
  EXPECT_EQ(must(store.learned("host")).size(), 1U);
  EXPECT_TRUE(must(store.learned("nothing")).empty());
}

TEST_F(StoreTest, OfAKindTheNewestAreKept) {
  Store store = open();
  for (int i = 1; i <= 5; ++i)
    must(store.learn("model", {std::to_string(i), from_ns(i == 2 ? 9 : i), "{}"}, 3));
  must(store.learn("host", {"lab", from_ns(1), "[]"}));
  must(store.commit());
  std::string names;
  for (const auto& one : must(store.learned("model"))) names += one.name;
  EXPECT_EQ(names, "245");
  EXPECT_EQ(must(store.learned("host")).size(), 1U);
  const auto two = must(store.learned("model", "2"));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->updated, from_ns(9));
  EXPECT_EQ(two->value, "{}");
  EXPECT_FALSE(must(store.learned("model", "1")));
  EXPECT_FALSE(must(store.learned("host", "2")));
}

}  // namespace
}  // namespace gantry::store
