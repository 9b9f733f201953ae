#pragma once
/// The environment of tasks: what all inherit, what each adds, and the mark by which a later agent
/// finds processes that were left behind. Also finds programs, as PATH is part of it. Owned by a
/// shepherd.

#include <string>
#include <string_view>
#include <vector>

namespace gantry::agent {

class TaskEnvironment {
 public:
  /// `mark` ("NAME=value") goes into every environment.
  explicit TaskEnvironment(std::string mark) : mark_(std::move(mark)) {}

  /// What every task inherits, as "NAME=value".
  void set_common(std::vector<std::string> entries) { common_ = std::move(entries); }

  /// For execve, with a nullptr at the end: the common entries without those that `own` replaces,
  /// then `own`, then the mark. The pointers live as long as `own` and until set_common().
  std::vector<char*> with(const std::vector<std::string>& own);

  /// The path of a program for a task with this environment (see find_program). Looking it up costs
  /// several system calls, and a sweep starts the same one over and over: the last answer is kept.
  const std::string& find(const std::string& name, const std::vector<char*>& envp,
                          const std::string& workdir);
  /// The answer was wrong: look again the next time.
  void forget() { found_.clear(); }

 private:
  std::string mark_;
  std::vector<std::string> common_;
  std::string found_, found_name_, found_path_, found_workdir_;
};

}  // namespace gantry::agent
