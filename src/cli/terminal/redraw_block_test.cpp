#include "cli/terminal/redraw_block.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace gantry::cli {
namespace {

struct Screen {
  UniqueFd fd{memfd_create("screen", MFD_CLOEXEC)};
  Output out{fd.get()};
  std::size_t columns = 80;

  std::string take() {
    std::string text(4096, '\0');
    const ssize_t size = pread(fd.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(size));
    EXPECT_EQ(ftruncate(fd.get(), 0), 0);
    lseek(fd.get(), 0, SEEK_SET);
    return text;
  }
};

TEST(RedrawBlock, DrawsOverItself) {
  Screen screen;
  RedrawBlock block(screen.out, [&] { return screen.columns; });
  block.draw({"one", "two"});
  EXPECT_EQ(screen.take(), "one\ntwo");
  block.draw({"1", "2"});
  EXPECT_EQ(screen.take(), "\r\x1b[1A\x1b[J1\n2");
  block.clear();
  EXPECT_EQ(screen.take(), "\r\x1b[1A\x1b[J");
  block.clear();
  EXPECT_EQ(screen.take(), "");
}

TEST(RedrawBlock, GoesUpFurtherAfterTheWindowBecameNarrow) {
  Screen screen;
  RedrawBlock block(screen.out, [&] { return screen.columns; });
  block.draw({std::string(70, 'a'), "\x1b[31m" + std::string(30, 'b') + "\x1b[0m"});
  screen.take();
  screen.columns = 40;
  block.clear();
  // 70 columns take two rows of 40, 30 take one: the cursor is two rows below the first.
  EXPECT_EQ(screen.take(), "\r\x1b[2A\x1b[J");
}

}  // namespace
}  // namespace gantry::cli
