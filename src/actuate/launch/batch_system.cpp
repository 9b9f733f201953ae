#include "actuate/launch/batch_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "actuate/launch/ssh_command.hpp"

namespace gantry {

namespace {

constexpr std::size_t kMaxReason = 300;
constexpr std::int64_t kWarnSeconds = 60;  ///< before the walltime is over

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Calls `use` for each line, without its end.
template <class Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + shell_quoted(word);
  return text;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::int64_t whole_seconds(Duration time) {
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(time).count());
}

std::vector<std::string> sbatch_words(const BatchRequest& request, const std::string& name) {
  std::vector<std::string> words{
      "sbatch",       "--parsable",         "--job-name=" + name,
      "--nodes=1",    "--ntasks=1",         fmt::format("--cpus-per-task={}", request.slots),
      "--no-requeue", "--output=/dev/null", "--error=/dev/null"};
  if (!request.queue.empty()) words.push_back("--partition=" + request.queue);
  if (!request.account.empty()) words.push_back("--account=" + request.account);
  if (request.walltime > Duration(0)) {
    const std::int64_t s = whole_seconds(request.walltime);
    words.push_back(fmt::format("--time={}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60));
    words.push_back(fmt::format("--signal=B:TERM@{}", kWarnSeconds));
  }
  return words;
}

std::vector<std::string> qsub_words(const BatchRequest& request, const std::string& name) {
  std::vector<std::string> words{"qsub", "-terse", "-N", name, "-S",        "/bin/sh", "-r",
                                 "n",    "-j",     "y",  "-o", "/dev/null", "-notify"};
  if (!request.queue.empty()) words.insert(words.end(), {"-q", request.queue});
  if (!request.account.empty()) words.insert(words.end(), {"-P", request.account});
  if (request.walltime > Duration(0)) {
    const std::int64_t s = whole_seconds(request.walltime);
    words.insert(words.end(), {"-l", fmt::format("h_rt={}", s)});
    if (s > 2 * kWarnSeconds)
      words.insert(words.end(), {"-l", fmt::format("s_rt={}", s - kWarnSeconds)});
  }
  const bool has_environment = std::ranges::any_of(
      request.directives, [](const auto& directive) { return directive.starts_with("-pe "); });
  if (request.slots > 1 && !has_environment)
    words.insert(words.end(), {"-pe", "smp", std::to_string(request.slots)});
  return words;
}

JobState slurm_state(std::string_view word) {
  if (word == "RUNNING") return JobState::running;
  constexpr std::array<std::string_view, 5> kWaiting{"PENDING", "CONFIGURING", "REQUEUED",
                                                     "REQUEUE_HOLD", "RESV_DEL_HOLD"};
  return std::ranges::find(kWaiting, word) != kWaiting.end() ? JobState::queued : JobState::ending;
}

/// Letters like qw, t, r, dr, Eqw.
JobState sge_state(std::string_view letters) {
  const auto has = [&](char c) { return letters.find(c) != std::string_view::npos; };
  if (has('d')) return JobState::ending;
  if (has('E')) return JobState::stuck;
  if (has('s') || has('S') || has('T')) return JobState::ending;
  if (has('r')) return JobState::running;
  return JobState::queued;
}

/// The text of the first <tag> in `xml`.
std::string_view element(std::string_view xml, std::string_view tag) {
  const std::string open = fmt::format("<{}>", tag);
  const std::size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  xml.remove_prefix(begin + open.size());
  return xml.substr(0, std::min(xml.find('<'), xml.size()));
}

std::vector<BatchJob> parse_squeue(std::string_view output) {
  std::vector<BatchJob> jobs;
  for_each_line(output, [&](std::string_view line) {
    const std::size_t first = line.find('|');
    const std::size_t second = first == line.npos ? line.npos : line.find('|', first + 1);
    if (second == line.npos) return;
    const std::string_view state = line.substr(first + 1, second - first - 1);
    jobs.push_back({std::string(line.substr(0, first)), std::string(line.substr(second + 1)),
                    slurm_state(state)});
  });
  return jobs;
}

std::vector<BatchJob> parse_qstat(std::string_view output) {
  constexpr std::string_view kJob = "<job_list";
  std::vector<BatchJob> jobs;
  for (std::size_t at = output.find(kJob); at != output.npos;) {
    const std::size_t next = output.find(kJob, at + kJob.size());
    const std::string_view job = output.substr(at, next == output.npos ? next : next - at);
    jobs.push_back({std::string(element(job, "JB_job_number")),
                    std::string(element(job, "JB_name")), sge_state(element(job, "state"))});
    at = next;
  }
  return jobs;
}

}  // namespace

std::string pilot_script(const PilotPlace& place) {
  const std::string folder = shell_quoted(place.folder);
  const std::string log = shell_quoted(place.folder + "/agent/job.log");
  return fmt::format(
      "#!/bin/sh\n"
      "umask 077\n"
      "cd {} || exit 1\n"
      "mkdir -p {} || exit 1\n"
      "exec {} pilot {} . >{} 2>&1 </dev/null\n",
      shell_quoted(place.scratch), shell_quoted(place.folder + "/agent"),
      shell_quoted(place.program), folder, log);
}

std::string submit_command(BatchSystem system, const BatchRequest& request,
                           const std::string& job_name, const std::string& script,
                           std::string_view end) {
  std::vector<std::string> words = system == BatchSystem::slurm ? sbatch_words(request, job_name)
                                                                : qsub_words(request, job_name);
  for (const auto& directive : request.directives)
    for (auto& word : split_words(directive)) words.push_back(std::move(word));
  return fmt::format("{} <<'{}'\n{}{}", joined(words), end, script, end);
}

std::optional<std::string> parse_job_id(BatchSystem, std::string_view output) {
  // Site's own scripts may print before and after it. Slurm appends ";cluster".
  std::optional<std::string> id;
  for_each_line(output, [&](std::string_view line) {
    const std::string_view number = line.substr(0, line.find(';'));
    if (is_number(number)) id = std::string(number);
  });
  return id;
}

std::string queue_command(BatchSystem system, const std::vector<std::string>& names) {
  if (system == BatchSystem::sge) return "qstat -xml -u \"$(id -un)\"";
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ",") + name;
  return joined({"squeue", "--noheader", "--format=%i|%T|%j", "--name=" + list}) +
         " --user=\"$(id -un)\"";
}

std::vector<BatchJob> parse_queue(BatchSystem system, std::string_view output,
                                  const std::vector<std::string>& names) {
  auto jobs = system == BatchSystem::slurm ? parse_squeue(output) : parse_qstat(output);
  std::erase_if(jobs, [&](const BatchJob& job) {
    return !is_number(job.id) || std::ranges::find(names, job.name) == names.end();
  });
  return jobs;
}

std::string cancel_command(BatchSystem system, const std::vector<std::string>& ids) {
  return (system == BatchSystem::slurm ? "scancel " : "qdel ") + joined(ids);
}

std::string reason_in(std::string_view output) {
  std::string_view reason;
  for_each_line(output, [&](std::string_view line) {
    const bool says = std::ranges::any_of(
        line, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
    // The line before it says more.
    if (says && !line.starts_with("Exiting.") && !line.starts_with("See ")) reason = line;
  });
  std::string text(reason.substr(0, kMaxReason));
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
  return text;
}

bool is_hopeless(std::string_view output) {
  constexpr std::array<std::string_view, 14> kWords{"invalid partition",
                                                    "invalid account",
                                                    "invalid qos",
                                                    "invalid feature",
                                                    "unrecognized option",
                                                    "invalid option",
                                                    "unknown option",
                                                    "not found",
                                                    "permission denied",
                                                    "does not exist",
                                                    "unknown queue",
                                                    "unknown resource",
                                                    "requested node configuration is not available",
                                                    "requested time limit is invalid"};
  std::string text(output);
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace gantry
