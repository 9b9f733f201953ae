#include "depot/files_protocol.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_dir.hpp"

namespace gantry::depot {
namespace {

const Digest kContent{0x0123456789abcdef, 0xfedcba9876543210};

/// Encodes, and cuts the frame off again; checks that neither less nor more of it is taken.
template <class Decode>
auto through(const std::string& frame, FilesMessage type, const Decode& decode) {
  FrameReader reader(kMaxFilesFrame);
  reader.append(frame);
  const auto raw = reader.next();
  EXPECT_TRUE(raw);
  EXPECT_EQ(static_cast<FilesMessage>(raw->type), type);
  const std::string body(raw->body);
  EXPECT_FALSE(reader.next());
  return std::pair(decode(body), body);
}

template <class Decode>
void expect_exact(const std::string& body, const Decode& decode) {
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(decode(std::string_view(body).substr(0, size))) << size;
  EXPECT_FALSE(decode(body + "x"));
}

TEST(FilesProtocol, CarriesRequests) {
  std::string out;
  encode(out, FilesHello{kFilesVersion, "home-1", 77});
  const auto [hello, hello_body] = through(out, FilesMessage::hello, decode_files_hello);
  EXPECT_EQ(hello->sender, "home-1");
  EXPECT_EQ(hello->quota, 77U);

  out.clear();
  encode(out, Offer{5, kContent, 1U << 30U, true});
  const auto [offer, offer_body] = through(out, FilesMessage::offer, decode_offer);
  EXPECT_EQ(offer->id, 5U);
  EXPECT_EQ(offer->content, kContent);
  EXPECT_EQ(offer->bytes, 1U << 30U);
  EXPECT_TRUE(offer->executable);
  expect_exact(offer_body, decode_offer);

  out.clear();
  encode(out, Fetch{6, "work/1/a b", 3, 4, 2});
  const auto [fetch, fetch_body] = through(out, FilesMessage::fetch, decode_fetch);
  EXPECT_EQ(fetch->path, "work/1/a b");
  EXPECT_EQ(fetch->offset, 3U);
  EXPECT_EQ(fetch->length, 4U);
  EXPECT_EQ(fetch->skip, 2U);
  expect_exact(fetch_body, decode_fetch);

  out.clear();
  encode(out, FilesMessage::drop, Named{7, kContent});
  const auto [drop, drop_body] = through(out, FilesMessage::drop, decode_named);
  EXPECT_EQ(drop->content, kContent);
  expect_exact(drop_body, decode_named);
}

TEST(FilesProtocol, CarriesBytes) {
  std::string out;
  encode(out, Store{1, kContent, false, "bytes"});
  const auto [store, store_body] = through(out, FilesMessage::store, [](std::string_view body) {
    const auto m = decode_store(body);
    return m ? std::optional(std::string(m->bytes)) : std::nullopt;
  });
  EXPECT_EQ(store, "bytes");
  out.clear();
  encode(out, Data{1, 99, "more"});
  const auto [data, data_body] = through(out, FilesMessage::data, [](std::string_view body) {
    const auto m = decode_data(body);
    return m ? std::optional(std::pair(m->offset, std::string(m->bytes))) : std::nullopt;
  });
  EXPECT_EQ(data, std::pair(std::uint64_t{99}, std::string("more")));
  EXPECT_FALSE(decode_data("short"));
  EXPECT_FALSE(decode_store(store_body.substr(0, 20)));
}

TEST(FilesProtocol, CarriesAnswers) {
  std::string out;
  encode(out, InventoryPart{true, {{kContent, 10}, {Digest{1, 2}, 20}}});
  const auto [part, part_body] = through(out, FilesMessage::inventory, decode_inventory);
  EXPECT_TRUE(part->last);
  EXPECT_EQ(part->files, (std::vector<StoredFile>{{kContent, 10}, {Digest{1, 2}, 20}}));
  expect_exact(part_body, decode_inventory);

  out.clear();
  encode(out, Failed{3, FilesProblem::other_content, "why"});
  const auto [failed, failed_body] = through(out, FilesMessage::failed, decode_failed);
  EXPECT_EQ(failed->problem, FilesProblem::other_content);
  EXPECT_EQ(failed->why, "why");
  expect_exact(failed_body, decode_failed);

  out.clear();
  encode(out, FileHead{4, 1000, true});
  const auto [head, head_body] = through(out, FilesMessage::file, decode_file_head);
  EXPECT_EQ(head->bytes, 1000U);
  EXPECT_TRUE(head->executable);
  expect_exact(head_body, decode_file_head);
}

TEST(FilesProtocol, CarriesPackedBytes) {
  const ScratchDir dir;
  const std::string content(100'000, 'x');
  std::ofstream(dir / "f") << content;
  const UniqueFd file = open_file(dir / "f", O_RDONLY).value();
  Packer packer;  // on a link of a byte a second
  packer.link().sent(from_ns(1), 0, true);
  packer.link().sent(from_ns(1'000'000'001), 1, false);
  Packing packing;
  Unpacker unpacker;
  std::string out = "before";
  const std::size_t at = out.size();
  ASSERT_EQ(encode_read(out, Store{7, kContent, true, {}}, file.get(), content.size()), 100'000U);
  pack_frame(out, at, packer, packing);
  EXPECT_LT(out.size(), 1000U);
  const auto [store, store_body] =
      through(out.substr(at), FilesMessage::store_packed, [&](std::string_view body) {
        const auto m = decode_store_packed(body, unpacker);
        return m && m->executable && m->content == kContent ? std::string(m->bytes) : "";
      });
  EXPECT_EQ(store, content);
  out.clear();
  ASSERT_EQ(encode_read(out, Data{8, 5, {}}, file.get(), 10, 50'000), 50'000U);
  pack_frame(out, 0, packer, packing);
  const auto [data, data_body] =
      through(out, FilesMessage::data_packed, [&](std::string_view body) {
        const auto m = decode_data_packed(body, unpacker);
        return m && m->id == 8 && m->offset == 5 ? std::string(m->bytes) : "";
      });
  EXPECT_EQ(data, content.substr(0, 50'000));
  EXPECT_FALSE(decode_data_packed(data_body + "x", unpacker));
}

TEST(FilesProtocol, RefusesFieldsThatCannotBe) {
  const auto fetch = [](const std::string& path, std::uint64_t length, std::uint64_t skip) {
    std::string out;
    encode(out, Fetch{1, path, 0, length, skip});
    return decode_fetch(std::string_view(out).substr(5)).has_value();
  };
  EXPECT_TRUE(fetch("work/a", 10, 10));
  EXPECT_FALSE(fetch("work/a", 10, 11));
  for (const char* path :
       {"", "work", "work/", "/etc/passwd", "work/../x", "depot/ab/c", "work//x"})
    EXPECT_FALSE(fetch(path, 10, 0)) << path;

  std::string hello;
  encode(hello, FilesHello{kFilesVersion, "../x", 0});
  EXPECT_FALSE(decode_files_hello(std::string_view(hello).substr(5)));

  std::string offer;
  encode(offer, Offer{1, kContent, kToTheEnd, false});
  EXPECT_FALSE(decode_offer(std::string_view(offer).substr(5)));
}

TEST(FilesProtocol, AnEchoIsItsNumberAndPadding) {
  std::string out;
  encode(out, Echo{1ULL << 60, "padding"});
  const auto [echo, body] = through(out, FilesMessage::echo, decode_echo);
  EXPECT_EQ(echo->number, 1ULL << 60);
  expect_exact(body, decode_echo);
  EXPECT_EQ(decode_echo(body)->padding, "padding");
  out.clear();
  encode(out, Echoed{7, 8});
  const auto [echoed, echoed_body] = through(out, FilesMessage::echoed, decode_echoed);
  EXPECT_EQ(echoed->number, 7U);
  EXPECT_EQ(echoed->seal, 8U);
  expect_exact(echoed_body, decode_echoed);
}

TEST(FilesProtocol, APaddingHasABound) {
  std::string padding(Echo::kMostPadding, 'x');
  std::string out;
  encode(out, Echo{1, padding});
  EXPECT_TRUE(through(out, FilesMessage::echo, decode_echo).first);
  padding.push_back('x');
  out.clear();
  encode(out, Echo{1, padding});
  EXPECT_FALSE(through(out, FilesMessage::echo, decode_echo).first);
}

TEST(FilesProtocol, TheSealOfAPaddingIsItsEnd) {
  EXPECT_EQ(seal_of(""), 0U);
  EXPECT_EQ(seal_of("7 bytes"), 0U);
  EXPECT_EQ(seal_of("any and the end"), seal_of(" the end"));
  EXPECT_NE(seal_of(" the end"), seal_of(" the eNd"));
}

TEST(FilesProtocol, OfAnotherVersionOnlyTheVersionIsRead) {
  std::string out;
  Encoder(out).u32(kFilesVersion + 1).str("something new");
  EXPECT_EQ(decode_files_hello(out)->version, kFilesVersion + 1);
  EXPECT_EQ(decode_files_welcome(out)->version, kFilesVersion + 1);
}

}  // namespace
}  // namespace gantry::depot
