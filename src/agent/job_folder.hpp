#pragma once
/// A batch of tasks that became one array job: a folder on the site's shared file system, by which
/// the desk and the jobs speak to each other. The desk writes the tasks; a job claims its own, runs
/// it, and leaves its report. Whoever makes the claim's file decides: so a task that was withdrawn
/// is never started, and one that was started is never started again.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/protocol.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class JobFolder {
 public:
  explicit JobFolder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  struct Content {
    Hello hello;
    std::vector<Start> tasks;  ///< of element i: the one at i - 1
  };
  Result<> write(const Content& content) const;
  [[nodiscard]] Result<Content> read() const;

  /// True for the one who was the first to say so, of element `index`: that it starts now (`at`),
  /// or (0) that it shall never. An error when nobody can say that: the folder is gone, or full.
  [[nodiscard]] Result<bool> claim(std::uint32_t index, std::int64_t at) const;
  /// When it was started, as far as one can read it; 0 when it was withdrawn.
  [[nodiscard]] std::int64_t claimed_at(std::uint32_t index) const;

  /// The body of an Ended frame.
  Result<> write_report(std::uint32_t index, std::string_view body) const;
  [[nodiscard]] Result<std::string> read_report(std::uint32_t index) const;

  struct Progress {
    std::set<std::uint32_t> claimed;
    std::set<std::uint32_t> reported;
  };
  [[nodiscard]] Progress look() const;
  void remove() const;

 private:
  [[nodiscard]] std::filesystem::path file(const char* what, std::uint32_t index) const;

  std::filesystem::path path_;
};

}  // namespace gantry::agent
