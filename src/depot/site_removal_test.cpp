#include "depot/site_removal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::depot {
namespace {

namespace fs = std::filesystem;

/// A site with 3 + 4 bytes in the depot and bin, and work of two holders, 5 bytes each.
struct UsedSite {
  ScratchDir parent;
  fs::path scratch = parent / "scratch";

  UsedSite() {
    write("depot/ab/cdef", "abc");
    write("bin/gantry-agent-1", "1234");
    write("work/mine/run/1/file", "mine!");
    write("work/theirs/run/1/file", "their");
    write("work/mine/hosts/far/agent/lock", "");
    fs::create_directories(scratch / "work/mine/spare/1.1.1");
  }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((scratch / name).parent_path());
    std::ofstream(scratch / name) << text;
  }
};

TEST(SiteRemoval, TakesAllButWhatOthersHave) {
  const UsedSite site;
  ASSERT_TRUE(look_at_site(site.scratch)->strange.empty());
  const auto removal = remove_site(site.scratch, "mine", false).value();
  EXPECT_EQ(removal.bytes, 3U + 4U + 5U);
  EXPECT_EQ(removal.files, 4U);
  EXPECT_EQ(removal.kept, 1U);
  EXPECT_TRUE(fs::exists(site.scratch / "work/theirs/run/1/file"));
  EXPECT_FALSE(fs::exists(site.scratch / "work/mine"));
  EXPECT_FALSE(fs::exists(site.scratch / "depot"));
  EXPECT_FALSE(fs::exists(site.scratch / "bin"));
}

TEST(SiteRemoval, TakesEverythingWhenAsked) {
  const UsedSite site;
  EXPECT_EQ(remove_site(site.scratch, "mine", true)->kept, 0U);
  EXPECT_FALSE(fs::exists(site.scratch));
  EXPECT_TRUE(fs::exists(site.parent.path()));
}

TEST(SiteRemoval, SeesWhatIsNotOfGantry) {
  for (const char* name :
       {"thesis.tex", "bin/vi", "depot/photos", "work/mine/notes", "work/.git"}) {
    const UsedSite site;
    site.write(std::string(name) + (std::string(name) == "thesis.tex" ? "" : "/x"), "");
    EXPECT_EQ(look_at_site(site.scratch)->strange, name);
  }
}

TEST(SiteRemoval, SeesWhoKeepsOutputs) {
  const UsedSite site;
  fs::create_directories(site.scratch / "work/mine/kept");
  EXPECT_TRUE(look_at_site(site.scratch)->keeping.empty());
  site.write("work/theirs/kept/1.1.1/out", "precious");
  const auto look = look_at_site(site.scratch);
  EXPECT_EQ(look->strange, "");
  EXPECT_EQ(look->keeping, std::vector<std::string>{"theirs"});
}

TEST(SiteRemoval, FollowsNoLink) {
  const UsedSite site;
  fs::create_directories(site.parent / "precious");
  std::ofstream(site.parent / "precious/file") << "x";
  fs::create_directory_symlink(site.parent / "precious", site.scratch / "work/mine/run/link");
  ASSERT_TRUE(remove_site(site.scratch, "mine", true));
  EXPECT_TRUE(fs::exists(site.parent / "precious/file"));
}

TEST(SiteRemoval, ALinkInPlaceOfAFolderIsRefused) {
  const UsedSite site;
  fs::create_directories(site.parent / "precious");
  fs::remove_all(site.scratch / "depot");
  fs::create_directory_symlink(site.parent / "precious", site.scratch / "depot");
  EXPECT_FALSE(look_at_site(site.scratch));
}

}  // namespace
}  // namespace gantry::depot
