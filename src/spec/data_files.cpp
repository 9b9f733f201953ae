#include "spec/data_files.hpp"

#include <glob.h>

#include <algorithm>

#include "base/fd.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {

Result<std::string> DataFiles::content(const std::filesystem::path& path) {
  const std::string what = "file " + path.string();
  std::string text;
  if (const std::string* known = find(what)) {
    text = *known;
  } else {
    TRY_ASSIGN(text, read_file(path, kMaxDataFile));
  }
  read_.emplace_back(what, text);
  return text;
}

std::vector<std::string> DataFiles::matches(const std::string& pattern) {
  const std::string what = "glob " + pattern;
  std::string list;  // each ends with NUL, which no path holds
  if (const std::string* known = find(what)) {
    list = *known;
  } else {
    glob_t found{};
    const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
    for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i)
      list.append(found.gl_pathv[i]).push_back('\0');
    ::globfree(&found);
  }
  std::vector<std::string> paths;
  for (std::size_t at = 0; at < list.size(); at += paths.back().size() + 1)
    paths.emplace_back(list.c_str() + at);
  read_.emplace_back(what, std::move(list));
  return paths;
}

const std::string* DataFiles::find(const std::string& what) const {
  const auto found = std::ranges::find(earlier_, what, &Read::value_type::first);
  return found == earlier_.end() ? nullptr : &found->second;
}

}  // namespace gantry::spec
