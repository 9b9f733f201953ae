#include "model/wrappers.hpp"

#include <algorithm>
#include <array>

namespace gantry {

namespace {

struct Wrapper {
  std::string_view name;
  std::string_view valued = {};  ///< options whose value is the next word, each between blanks
  std::size_t operands = 0;      ///< words between the options and the program
  std::string_view twice_valued = {};  ///< options with two values
  bool assignments = false;            ///< NAME=VALUE words may stand before the program
};

constexpr std::string_view kMpiValued =
    " -n -np -c -N -H -x -hosts -host --host -f -hostfile --hostfile -machinefile --machinefile"
    " -ppn -wdir --wdir -map-by --map-by -bind-to --bind-to -rank-by --rank-by -envlist ";
constexpr std::string_view kMpiTwiceValued = " -mca --mca -gmca --gmca -env -genv ";

constexpr std::array kWrappers{
    Wrapper{"nice", " -n --adjustment "},
    Wrapper{"ionice", " -c --class -n --classdata "},
    Wrapper{"chrt", " -T -P -D --sched-runtime --sched-period --sched-deadline ", 1},
    Wrapper{"timeout", " -k --kill-after -s --signal ", 1},
    Wrapper{"env", " -u --unset -C --chdir -S --split-string ", 0, {}, true},
    Wrapper{"time", " -o --output -f --format "},
    Wrapper{"stdbuf", " -i --input -o --output -e --error "},
    Wrapper{"taskset", {}, 1},
    Wrapper{"numactl",
            " -i --interleave -p --preferred -P -w -m --membind -N --cpunodebind -C"
            " --physcpubind "},
    Wrapper{"nohup"},
    Wrapper{"setsid"},
    Wrapper{"xvfb-run",
            " -e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args"
            " -w --wait "},
    Wrapper{"mpirun", kMpiValued, 0, kMpiTwiceValued},
    Wrapper{"mpiexec", kMpiValued, 0, kMpiTwiceValued},
    Wrapper{"srun",
            " -A --account -c --cpus-per-task -C --constraint -D --chdir -e --error -G --gpus -i"
            " --input -J --job-name -m --distribution -n --ntasks -N --nodes -o --output -p"
            " --partition -q --qos -t --time -w --nodelist -x --exclude --mem --mem-per-cpu --mpi"
            " --ntasks-per-node --gres "},
    Wrapper{"xargs", " -a -d -E -I -L -n -P -s "},
    Wrapper{"exec", " -a "},
    Wrapper{"command"},
};

bool has(std::string_view options, std::string_view word) {
  for (std::size_t at = options.find(word); at != std::string_view::npos;
       at = options.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && options[at - 1] == ' ' && end < options.size() && options[end] == ' ')
      return true;
  }
  return false;
}

/// How many words the wrapper takes for itself, its name among them.
std::size_t own_words(const Wrapper& wrapper, std::span<const std::string> words) {
  std::size_t at = 1;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    if (words[at] == "--") {
      ++at;
      break;
    }
    const std::string_view option = words[at];
    if (has(wrapper.valued, option)) at += 1;
    if (has(wrapper.twice_valued, option)) at += 2;
  }
  while (wrapper.assignments && at < words.size() && words[at].find('=') != std::string::npos) ++at;
  return at + wrapper.operands;
}

}  // namespace

std::string_view program_name(std::string_view program) {
  return program.substr(program.rfind('/') + 1);
}

std::size_t behind_wrappers(std::span<const std::string> words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const auto wrapper = std::find_if(
        kWrappers.begin(), kWrappers.end(),
        [name = program_name(words[at])](const Wrapper& known) { return known.name == name; });
    if (wrapper == kWrappers.end()) return at;
    at += own_words(*wrapper, words.subspan(at));
  }
  return words.size();
}

std::string_view shell_text(std::span<const std::string> words) {
  constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "ksh", "zsh"};
  if (words.empty()) return {};
  if (std::find(kShells.begin(), kShells.end(), program_name(words[0])) == kShells.end()) return {};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string_view option = words[i];
    if (option == "-o" || option == "+o" || option == "-O") {
      ++i;
      continue;
    }
    if (!option.starts_with('-') || option.starts_with("--")) return {};
    if (option.find('c') != std::string_view::npos) return words[i + 1];
  }
  return {};
}

}  // namespace gantry
