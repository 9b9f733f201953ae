#include "agent/protocol.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>

namespace gantry::agent {
namespace {

template <class Message>
std::string frame_of(const Message& message) {
  std::string out;
  encode(out, message);
  return out;
}

std::string body_of(const std::string& frame) {
  return frame.substr(sizeof(std::uint32_t) + 1);
}

rc::Gen<AttemptKey> any_key() {
  return rc::gen::build<AttemptKey>(rc::gen::set(&AttemptKey::run), rc::gen::set(&AttemptKey::task),
                                    rc::gen::set(&AttemptKey::attempt));
}

Start example_start() {
  Start start;
  start.key = {3, 14, 2};
  start.cores = 4;
  start.memory = 1 << 30;
  start.timeout_ns = 5;
  start.walltime_ns = 6;
  start.checkpoint_signal = 10;
  start.checkpoint_before_ns = 7;
  start.checkpoint_code = 75;
  start.argv = {"./sim", "--seed", "", std::string("a\0b", 3), "\xff"};
  start.environment = {"A=1", "B="};
  start.workdir = "/w";
  start.make_workdir = true;
  start.outputs = {"/w/out"};
  start.collect = {"/w/a.json", "/w/b.csv"};
  start.tag = std::string(48, '\x80');
  start.log_serial = 77;
  start.log_safe = 70;
  return start;
}

Ended example_ended() {
  Ended ended;
  ended.key = {1, 2, 3};
  ended.cause = 4;
  ended.code = -9;
  ended.detail = "why";
  ended.started_ns = -1;
  ended.ended_ns = 1'700'000'000'000'000'000;
  ended.user_ns = 5;
  ended.system_ns = 6;
  ended.max_rss = 1U << 31;
  ended.out = {100'000, "tail", "run-1/slot-0.out", 4096, true};
  ended.err = {3, "err", "", 0, false};
  ended.collected = {{"/p", "content"}, {"/q", ""}};
  ended.tag = "tag";
  return ended;
}

TEST(Protocol, AStartComesBackWhole) {
  const Start start = example_start();
  const auto decoded = decode<Start>(body_of(frame_of(start)));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(frame_of(*decoded), frame_of(start));
  EXPECT_EQ(decoded->argv, start.argv);
  EXPECT_EQ(decoded->environment, start.environment);
  EXPECT_EQ(decoded->key, start.key);
  EXPECT_EQ(decoded->log_serial, 77U);
  EXPECT_EQ(decoded->log_safe, 70U);
  EXPECT_EQ(decoded->walltime_ns, 6);
  EXPECT_EQ(decoded->checkpoint_signal, 10);
  EXPECT_EQ(decoded->checkpoint_before_ns, 7);
  EXPECT_EQ(decoded->checkpoint_code, 75);
  EXPECT_TRUE(decoded->make_workdir);
}

TEST(Protocol, AStartWithoutACommandIsRefused) {
  Start start = example_start();
  start.argv.clear();
  EXPECT_FALSE(decode<Start>(body_of(frame_of(start))));
  EXPECT_FALSE(pack_start(body_of(frame_of(start))));
}

TEST(Protocol, APackedStartIsPassedOnWithOtherNumbersForTheLog) {
  Start start = example_start();
  start.inputs = {{"mesh/a.dat", std::string(32, 'a'), false}};
  start.keep = {"/w/out"};
  const auto packed = pack_start(body_of(frame_of(start)));
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->key, start.key);
  EXPECT_EQ(packed->cores, start.cores);
  EXPECT_EQ(packed->memory, start.memory);
  EXPECT_EQ(packed->walltime_ns, start.walltime_ns);
  EXPECT_EQ(packed->checkpoint_signal, start.checkpoint_signal);
  EXPECT_EQ(packed->checkpoint_before_ns, start.checkpoint_before_ns);
  std::string passed_on;
  encode(passed_on, *packed, 100, 99);
  start.log_serial = 100;
  start.log_safe = 99;
  EXPECT_EQ(passed_on, frame_of(start));
}

TEST(Protocol, AStartThatCannotBeDecodedIsNotPassedOnEither) {
  Start start = example_start();
  start.inputs = {{"mesh/a.dat", std::string(32, 'a'), false}};
  const std::string whole = body_of(frame_of(start));
  EXPECT_TRUE(rc::check([&] {
    std::string body = whole.substr(0, *rc::gen::inRange<std::size_t>(0, whole.size() + 1));
    const auto damages = *rc::gen::inRange(0, 4);
    for (int i = 0; i < damages && !body.empty(); ++i)
      body[*rc::gen::inRange<std::size_t>(0, body.size())] = *rc::gen::inRange<char>(0, 8);
    RC_ASSERT(pack_start(body).has_value() == decode<Start>(body).has_value());
  }));
}

TEST(Protocol, AnEndedComesBackWholeAndUnderAnotherReceipt) {
  const Ended ended = example_ended();
  std::string frame;
  encode(frame, 8, ended);
  const auto decoded = decode_ended(body_of(frame));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->first, 8U);
  EXPECT_EQ(decoded->second.code, -9);
  EXPECT_EQ(decoded->second.started_ns, -1);
  EXPECT_EQ(decoded->second.out.pack, "run-1/slot-0.out");
  EXPECT_TRUE(decoded->second.out.truncated);
  EXPECT_EQ(decoded->second.collected, ended.collected);
  EXPECT_EQ(decoded->second.memory_limit, 0U);
  EXPECT_EQ(peek_ended_key(body_of(frame)), ended.key);
  EXPECT_EQ(peek_run_time(body_of(frame)).started_ns, ended.started_ns);
  EXPECT_EQ(peek_run_time(body_of(frame)).ended_ns, ended.ended_ns);

  std::string forwarded;
  encode_ended(forwarded, 99, body_of(frame));
  std::string direct;
  encode(direct, 99, ended);
  EXPECT_EQ(forwarded, direct);
}

TEST(Protocol, TheLimitOfOneThatDiedOfMemoryComesBack) {
  Ended ended = example_ended();
  ended.memory_limit = std::uint64_t{3} << 32U;
  std::string frame;
  encode(frame, 8, ended);
  const auto decoded = decode_ended(body_of(frame));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->second.memory_limit, ended.memory_limit);
}

TEST(Protocol, SmallMessagesComeBack) {
  EXPECT_TRUE(rc::check([] {
    const auto key = *any_key();
    const auto number = *rc::gen::arbitrary<std::uint64_t>();
    const auto time = *rc::gen::arbitrary<std::int64_t>();
    const auto text = *rc::gen::arbitrary<std::string>();
    RC_ASSERT(decode<AttemptKey>(body_of(frame_of(Cancel{key}))) == key);
    RC_ASSERT(decode<AttemptKey>(body_of(frame_of(Returned{key}))) == key);
    const auto tell = decode<Tell>(body_of(frame_of(Tell{key, 15, time})));
    RC_ASSERT(tell && tell->key == key && tell->signal == 15 && tell->checkpoint_ns == time);
    const auto recall = decode<Recall>(body_of(frame_of(Recall{{key, key}})));
    RC_ASSERT(recall && recall->keys == std::vector<AttemptKey>({key, key}));
    RC_ASSERT(decode<Ack>(body_of(frame_of(Ack{number})))->receipt == number);
    const auto started = decode<Started>(body_of(frame_of(Started{key, time})));
    RC_ASSERT(started && started->key == key && started->started_ns == time);
    const auto refused = decode<Refused>(body_of(frame_of(Refused{3, number, text})));
    RC_ASSERT(refused && refused->cores == 3 && refused->memory == number && refused->why == text);
    const auto resting = decode<Resting>(body_of(frame_of(Resting{true, text})));
    RC_ASSERT(resting && resting->now && resting->why == text);
    RC_ASSERT(decode<Notice>(body_of(frame_of(Notice{text})))->text == text);
  }));
  EXPECT_TRUE(decode<Recall>(body_of(frame_of(Recall{})))->keys.empty());
  EXPECT_FALSE(decode<Recall>(std::string(4, '\xff')));  // more keys than bytes
}

TEST(Protocol, HelloAndWelcomeComeBack) {
  const auto hello =
      decode<Hello>(body_of(frame_of(Hello{kProtocolVersion, 8, 1 << 20, 7, {"A=b", "C="}})));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->cores, 8U);
  EXPECT_EQ(hello->grace_ns, 7);
  EXPECT_EQ(hello->environment, (std::vector<std::string>{"A=b", "C="}));

  Welcome welcome;
  welcome.pid = 4711;
  welcome.running = {{{1, 2, 3}, 55}, {{1, 4, 1}, 66}};
  welcome.reports = 9;
  const auto decoded = decode<Welcome>(body_of(frame_of(welcome)));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->pid, 4711);
  ASSERT_EQ(decoded->running.size(), 2U);
  EXPECT_EQ(decoded->running[1].key, (AttemptKey{1, 4, 1}));
  EXPECT_EQ(decoded->reports, 9U);
}

TEST(Protocol, AnotherVersionIsToldWithoutReadingItsFields) {
  std::string hello = body_of(frame_of(Hello{kProtocolVersion + 1, 8, 0, 0, {}}));
  hello += "fields of the future";
  ASSERT_TRUE(decode<Hello>(hello));
  EXPECT_EQ(decode<Hello>(hello)->version, kProtocolVersion + 1);
  Welcome welcome;
  welcome.version = kProtocolVersion + 1;
  welcome.pid = 12;
  std::string body = body_of(frame_of(welcome)).substr(0, 8);
  ASSERT_TRUE(decode<Welcome>(body));
  EXPECT_EQ(decode<Welcome>(body)->pid, 12);
}

/// Every decoder, on the same bytes; the number that took them.
int decode_all(std::string_view body) {
  return decode<Hello>(body).has_value() + decode<Start>(body).has_value() +
         decode<AttemptKey>(body).has_value() + decode<Ack>(body).has_value() +
         decode<Welcome>(body).has_value() + decode<Started>(body).has_value() +
         decode<Notice>(body).has_value() + decode_ended(body).has_value() +
         peek_ended_key(body).has_value();
}

TEST(Protocol, RandomBytesAreSafeToDecode) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) { RC_ASSERT(decode_all(bytes) >= 0); }));
}

TEST(Protocol, DamagedMessagesAreSafeToDecode) {
  std::string ended;
  encode(ended, 1, example_ended());
  const std::vector<std::string> bodies = {body_of(frame_of(example_start())), body_of(ended),
                                           body_of(frame_of(Hello{1, 1, 1, 1, {"A=1"}}))};
  EXPECT_TRUE(rc::check([&] {
    std::string body = *rc::gen::elementOf(bodies);
    const auto damages = *rc::gen::inRange(1, 8);
    for (int i = 0; i < damages; ++i) {
      body[*rc::gen::inRange<std::size_t>(0, body.size())] = *rc::gen::arbitrary<char>();
    }
    RC_ASSERT(decode_all(body) >= 0);
  }));
}

TEST(Protocol, ATasksSandboxAndWhatItsDepotLackedTravel) {
  Start start = example_start();
  start.sandbox = "/scratch/work/1.2.3";
  start.inputs = {{"mesh/a.dat", std::string(32, 'a'), false}, {"sim", std::string(32, 'b'), true}};
  const auto read = decode<Start>(body_of(frame_of(start)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sandbox, start.sandbox);
  ASSERT_EQ(read->inputs.size(), 2U);
  EXPECT_EQ(read->inputs[0].path, "mesh/a.dat");
  EXPECT_FALSE(read->inputs[0].executable);
  EXPECT_EQ(read->inputs[1].content, std::string(32, 'b'));
  EXPECT_TRUE(read->inputs[1].executable);

  Ended ended = example_ended();
  ended.unstaged = {std::string(32, 'a')};
  std::string frame;
  encode(frame, 7, ended);
  const auto told = decode_ended(body_of(frame));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->second.unstaged, ended.unstaged);
  EXPECT_FALSE(told->second.swept);

  ended = example_ended();
  ended.swept = true;
  frame.clear();
  encode(frame, 7, ended);
  const auto swept = decode_ended(body_of(frame));
  ASSERT_TRUE(swept);
  EXPECT_TRUE(swept->second.swept);
  EXPECT_TRUE(swept->second.unstaged.empty());
}

TEST(Protocol, WhatIsKeptTravels) {
  Start start = example_start();
  start.keep = {"/scratch/work/1.2.3/a", "/scratch/work/1.2.3/b"};
  start.kept_folder = "/scratch/kept/1.2.3";
  const auto read = decode<Start>(body_of(frame_of(start)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->keep, start.keep);
  EXPECT_EQ(read->kept_folder, start.kept_folder);

  Ended ended = example_ended();
  ended.kept = {{start.keep[0], 7, std::string(32, 'a')}, {start.keep[1], 0, std::string(32, 'b')}};
  std::string frame;
  encode(frame, 7, ended);
  const auto told = decode_ended(body_of(frame));
  ASSERT_TRUE(told);
  ASSERT_EQ(told->second.kept.size(), 2U);
  EXPECT_EQ(told->second.kept[0].path, start.keep[0]);
  EXPECT_EQ(told->second.kept[0].bytes, 7U);
  EXPECT_EQ(told->second.kept[1].content, std::string(32, 'b'));
  EXPECT_FALSE(told->second.swept);
}

TEST(Protocol, AHostsLoadTravels) {
  const auto load = decode<Load>(body_of(frame_of(Load{1500, 1 << 30, 5, -1, 333})));
  ASSERT_TRUE(load);
  EXPECT_EQ(load->share, 333U);
  EXPECT_EQ(load->free_millicores, 1500U);
  EXPECT_EQ(load->free_memory, std::uint64_t{1} << 30);
  EXPECT_EQ(load->free_disk, 5U);
  EXPECT_EQ(load->clock_ns, -1);
  EXPECT_FALSE(decode<Load>("short"));
}

TEST(Protocol, AHostsTasksGetAShareFromNothingToAllOrNobodyKnows) {
  for (const std::uint32_t share : {0U, 1000U, Load::kNoShare}) {
    const auto load = decode<Load>(body_of(frame_of(Load{.share = share})));
    ASSERT_TRUE(load);
    EXPECT_EQ(load->share, share);
  }
  EXPECT_FALSE(decode<Load>(body_of(frame_of(Load{.share = 1001}))));
  EXPECT_FALSE(decode<Load>(body_of(frame_of(Load{.share = Load::kNoShare - 1}))));
}

TEST(Protocol, CutOrPaddedMessagesAreRefused) {
  const std::string start = body_of(frame_of(example_start()));
  std::string frame;
  encode(frame, 1, example_ended());
  const std::string ended = body_of(frame);
  const std::string hello = body_of(frame_of(Hello{}));
  for (std::size_t n = 0; n < start.size(); ++n)
    EXPECT_FALSE(decode<Start>(start.substr(0, n))) << n;
  for (std::size_t n = 0; n < ended.size(); ++n)
    EXPECT_FALSE(decode_ended(ended.substr(0, n))) << n;
  for (std::size_t n = 0; n < hello.size(); ++n)
    EXPECT_FALSE(decode<Hello>(hello.substr(0, n))) << n;
  EXPECT_FALSE(decode<Start>(start + "x"));
  EXPECT_FALSE(decode_ended(ended + "x"));
  EXPECT_FALSE(decode<Hello>(hello + "x"));
  EXPECT_FALSE(decode<AttemptKey>(std::string(11, 'k')));
  EXPECT_FALSE(decode<AttemptKey>(std::string(13, 'k')));
}

TEST(Protocol, AListThatClaimsMoreThanItHoldsIsRefusedAtOnce) {
  std::string body;
  Encoder(body).u32(kProtocolVersion).u32(1).u64(0).i64(0).u32(0xffffffff);
  EXPECT_FALSE(decode<Hello>(body));  // and did not try to make room for four billion strings
}

// FrameReader.
// ---------------------------------------------------------------------------------------

TEST(FrameReader, FindsTheFramesHoweverTheBytesArrive) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& texts) {
    std::string bytes;
    for (const auto& text : texts) encode(bytes, Notice{text});
    FrameReader reader;
    std::vector<std::string> got;
    std::size_t at = 0;
    while (at < bytes.size()) {
      const auto n = std::min(bytes.size() - at, *rc::gen::inRange<std::size_t>(1, 40));
      reader.append(std::string_view(bytes).substr(at, n));
      at += n;
      while (const auto frame = reader.next()) {
        RC_ASSERT(frame->type == MessageType::notice);
        got.push_back(decode<Notice>(frame->body)->text);
      }
    }
    RC_ASSERT(got == texts);
    RC_ASSERT(!reader.broken());
  }));
}

TEST(FrameReader, WaitsForTheRestOfAFrame) {
  const std::string frame = frame_of(Notice{"hello"});
  FrameReader reader;
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
    reader.append(frame.substr(i, 1));
    EXPECT_FALSE(reader.next()) << i;
  }
  reader.append(frame.substr(frame.size() - 1));
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST(FrameReader, AnEmptyOrOversizedFrameBreaksTheStreamForGood) {
  for (const std::uint32_t size :
       {std::uint32_t{0}, std::uint32_t{kMaxFrame + 1}, ~std::uint32_t{0}}) {
    std::string bytes = frame_of(Notice{"good"});
    Encoder(bytes).u32(size);
    bytes += frame_of(Notice{"after"});
    FrameReader reader;
    reader.append(bytes);
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.broken());
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken());
    reader.append(frame_of(Notice{"more"}));
    EXPECT_FALSE(reader.next());
  }
}

TEST(FrameReader, RandomBytesEndInNothingWorseThanABrokenStream) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& pieces) {
    FrameReader reader;
    std::size_t total = 0;
    for (const auto& piece : pieces) {
      reader.append(piece);
      total += piece.size();
      while (const auto frame = reader.next()) RC_ASSERT(frame->body.size() < total);
    }
  }));
}

TEST(FrameReader, LargeFramesPassAndTheirMemoryIsGivenBack) {
  const std::string large = frame_of(Notice{std::string(std::size_t{20} << 20, 'x')});
  FrameReader reader;
  reader.append(large);
  reader.append(frame_of(Notice{"next"}));
  ASSERT_TRUE(reader.next());
  ASSERT_TRUE(reader.next());
  EXPECT_LT(reader.space(1000).second, std::size_t{1} << 20);
}

}  // namespace
}  // namespace gantry::agent
