#include "model/fingerprint.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "model/shell_commands.hpp"
#include "model/wrappers.hpp"

namespace gantry {

namespace {

constexpr int kMaxDepth = 8;  ///< of sh -c inside sh -c

constexpr std::array<std::string_view, 22> kInterpreters = {
    "python", "pypy", "perl",  "Rscript", "R",       "julia",  "bash",       "sh",
    "dash",   "ksh",  "zsh",   "node",    "ruby",    "octave", "octave-cli", "lua",
    "php",    "java", "tclsh", "guile",   "gnuplot", "source"};

/// python3.11 is python, too.
std::string_view without_version(std::string_view program) {
  const std::string_view name = program_name(program);
  return name.substr(0, name.find_last_not_of("0123456789.") + 1);
}

/// `.` reads a script like any of them.
bool is_interpreter(std::string_view program) {
  return program == "." ||
         std::ranges::find(kInterpreters, without_version(program)) != kInterpreters.end();
}

/// Options whose value is program text.
bool takes_text(std::string_view option) {
  return option == "-c" || option == "-e" || option == "--eval";
}

/// -c of Python, -e of Perl, Ruby, node …: there is no script then. With gnuplot and Octave a
/// script may follow; to a shell -e means something else, and its -c has been looked at before.
bool text_is_all(std::string_view interpreter) {
  constexpr std::array<std::string_view, 9> kOthers{
      "gnuplot", "octave", "octave-cli", "bash", "sh", "dash", "ksh", "zsh", "source"};
  return interpreter != "." &&
         std::ranges::find(kOthers, without_version(interpreter)) == kOthers.end();
}

/// Collects the files that a command runs.
class ProgramFinder {
 public:
  explicit ProgramFinder(const Task& task) : task_(task), directories_{task.workdir} {}

  std::vector<std::string> find() && {
    command(task_.argv, 0);
    for (const auto& made : made_) std::erase(found_, made);
    for (const auto& output : task_.outputs) std::erase(found_, output);
    return std::move(found_);
  }

 private:
  void command(std::span<const std::string> words, int depth) {
    if (words.empty()) return;
    program(words[0]);
    if (const auto wrappers = behind_wrappers(words); wrappers > 0) {
      words = words.subspan(wrappers);
      if (words.empty()) return;
      program(words[0]);
    }
    const std::string_view text = shell_text(words);
    if (!text.empty()) {
      if (depth < kMaxDepth) shell(text, depth + 1);
    } else if (is_interpreter(words[0])) {
      script(words);
    }
  }

  void shell(std::string_view text, int depth) {
    for (const auto& [words, targets] : shell_commands(text)) {
      for (const auto& target : targets) written(target);
      for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i] == "-o") written(words[i + 1]);
      }
      if (words.size() > 1 && words[0] == "cd") {
        // Where it is left again is not followed: names are looked up in every such place.
        directories_.push_back(path_in(task_.workdir, words[1]));
      } else {
        command(words, depth);
      }
    }
  }

  /// Without a slash it is looked up in PATH.
  void program(const std::string& name) {
    if (name.find('/') != std::string::npos) add(name);
  }

  void script(std::span<const std::string> words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (takes_text(words[i])) {
        if (text_is_all(words[0])) return;
        continue;
      }
      if (words[i].starts_with("--file=") && add(words[i].substr(7))) return;
      if (words[i] == "-m" && i + 1 < words.size() && without_version(words[0]) == "python")
        return module(words[i + 1]);
      if (!words[i].starts_with('-') && add(words[i])) return;
    }
  }

  void module(std::string name) {
    std::replace(name.begin(), name.end(), '.', '/');
    if (!add(name + ".py")) add(name + "/__main__.py");
  }

  static std::string path_in(const std::string& directory, const std::string& name) {
    std::string_view rest = name;
    if (rest.starts_with('/')) return name;
    while (rest.starts_with("./")) rest.remove_prefix(2);
    return directory + "/" + std::string(rest);
  }

  /// True when the name is that of an existing regular file.
  bool add(const std::string& name) {
    bool found = false;
    for (const auto& directory : directories_) {
      std::string path = path_in(directory, name);
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      found = true;
      if (std::find(found_.begin(), found_.end(), path) == found_.end())
        found_.push_back(std::move(path));
    }
    return found;
  }

  /// What the command makes itself (`cc -o sim sim.c && ./sim`) was not there before it.
  void written(const std::string& name) {
    for (const auto& directory : directories_) made_.push_back(path_in(directory, name));
  }

  const Task& task_;
  std::vector<std::string> directories_;
  std::vector<std::string> found_;
  std::vector<std::string> made_;
};

void add_list(Hasher& hasher, const std::vector<std::string>& list) {
  hasher.add(list.size());
  for (const auto& item : list) hasher.add(item);
}

void add_bindings(Hasher& hasher, const std::vector<Binding>& bindings) {
  hasher.add(bindings.size());
  for (const auto& [name, value] : bindings) hasher.add(name).add(value);
}

}  // namespace

Digest command_digest(const Task& task) {
  Hasher hasher;
  add_list(hasher, task.argv);
  hasher.add(task.workdir);
  // Outputs and result rules counted once; the digests of tasks that have none are still the same.
  hasher.add(0).add(0).add(Digest{});
  return hasher.digest();
}

Digest environment_digest(const Task& task) {
  Hasher hasher;
  add_bindings(hasher, task.environment);
  add_bindings(hasher, task.parameters);
  return hasher.digest();
}

std::vector<std::string> implied_inputs(const Task& task) {
  return ProgramFinder(task).find();
}

}  // namespace gantry
