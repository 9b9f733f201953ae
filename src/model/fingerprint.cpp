#include "model/fingerprint.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gantry {

namespace {

constexpr std::array<std::string_view, 17> kInterpreters = {
    "python", "perl",   "Rscript", "julia", "bash",  "sh",    "dash",    "zsh", "node",
    "ruby",   "octave", "lua",     "php",   "tclsh", "guile", "gnuplot", "java"};

/// python3.11 is python, too.
bool is_interpreter(std::string_view program) {
  program = program.substr(program.rfind('/') + 1);
  return std::any_of(kInterpreters.begin(), kInterpreters.end(), [&](std::string_view name) {
    return program.starts_with(name) &&
           program.find_first_not_of("0123456789.", name.size()) == std::string_view::npos;
  });
}

/// The program text is among the arguments themselves (-c of shells and Python, -e of Perl, Ruby,
/// node …).
bool is_inline_program(std::string_view option) {
  return option == "-c" || option == "-e" || option == "--eval";
}

/// Appends the absolute path if it names an existing regular file.
bool append_file(const Task& task, const std::string& name, std::vector<std::string>& out) {
  std::string path = name.starts_with('/') ? name : task.workdir + "/" + name;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  out.push_back(std::move(path));
  return true;
}

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
  add_list(hasher, task.outputs);
  add_list(hasher, task.collect);
  hasher.add(task.results_digest);
  return hasher.digest();
}

Digest environment_digest(const Task& task) {
  Hasher hasher;
  add_bindings(hasher, task.environment);
  add_bindings(hasher, task.parameters);
  return hasher.digest();
}

std::vector<std::string> implied_inputs(const Task& task) {
  std::vector<std::string> out;
  if (task.argv.empty()) return out;
  if (task.argv[0].find('/') != std::string::npos) append_file(task, task.argv[0], out);
  if (!is_interpreter(task.argv[0])) return out;
  for (std::size_t i = 1; i < task.argv.size(); ++i) {
    if (is_inline_program(task.argv[i])) break;
    if (task.argv[i].starts_with('-')) continue;
    if (append_file(task, task.argv[i], out)) break;
  }
  return out;
}

}  // namespace gantry
