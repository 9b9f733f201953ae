#include "actuate/launch/batch/batch_system.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actuate/launch/ssh/ssh_command.hpp"

namespace gantry {

namespace {

/// Before the walltime is over: batch systems tell then, Slurm up to a minute earlier.
constexpr Duration kWarning = std::chrono::seconds(60);

Duration warning(Duration walltime) {
  return std::min(kWarning, walltime / 4);
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

void add_directives(std::vector<std::string>& words, const BatchRequest& request) {
  for (const auto& directive : request.directives)
    for (auto& word : split_words(directive)) words.push_back(std::move(word));
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
    words.push_back(fmt::format("--signal=B:TERM@{}", whole_seconds(warning(request.walltime))));
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
    const std::int64_t before = whole_seconds(warning(request.walltime));
    words.insert(words.end(), {"-l", fmt::format("s_rt={}", s - before)});
  }
  const bool has_environment = std::ranges::any_of(
      request.directives, [](const auto& directive) { return directive.starts_with("-pe "); });
  if (request.slots > 1 && !has_environment)
    words.insert(words.end(), {"-pe", "smp", std::to_string(request.slots)});
  return words;
}

/// Grid Engine takes jobs that no host can ever run, and lets them wait. Asked whether it would
/// start one, it forgets hosts that are away: so it is believed only if a job with one core has
/// nothing against it.
std::string check_of_cores(const BatchRequest& request) {
  std::vector<std::string> words{"qsub", "-w", "v", "-b", "y"};
  if (!request.queue.empty()) words.insert(words.end(), {"-q", request.queue});
  const std::string ask = joined(words) + " -pe smp ";
  return fmt::format(
      "if [ @NEW@ -gt 1 ] && {0}1 true >/dev/null 2>&1; then {0}@NEW@ true >/dev/null || exit 1; "
      "fi\n",
      ask);
}

}  // namespace

Duration time_for_tasks(Duration walltime) {
  return walltime - 2 * warning(walltime);
}

std::string pilot_script(const PilotPlace& place) {
  const std::string folder = shell_quoted(place.folder);
  const std::string log = shell_quoted(place.folder + "/agent/job.log");
  const std::string time =
      place.time > Duration(0) ? fmt::format(" {}", whole_seconds(place.time)) : "";
  return fmt::format(
      "#!/bin/sh\n"
      "umask 077\n"
      "cd {} || exit 1\n"
      "mkdir -p {} || exit 1\n"
      "exec {} pilot {} .{} >{} 2>&1 </dev/null\n",
      shell_quoted(place.scratch), shell_quoted(place.folder + "/agent"),
      shell_quoted(place.program), folder, time, log);
}

std::string submit_command(BatchSystem system, const BatchRequest& request,
                           const std::string& job_name, const std::string& script,
                           std::string_view end) {
  std::vector<std::string> words = system == BatchSystem::slurm ? sbatch_words(request, job_name)
                                                                : qsub_words(request, job_name);
  add_directives(words, request);
  return fmt::format("{} <<'{}'\n{}{}", joined(words), end, script, end);
}

std::string queue_command(BatchSystem system, const std::vector<std::string>& names) {
  if (system == BatchSystem::sge) return "qstat -g d -xml -u \"$(id -un)\"";
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ",") + name;
  std::vector<std::string> words{"squeue", "--array", "--format=%F|%K|%T|%r|%j"};
  if (names.empty())
    words.insert(words.begin() + 1, "--noheader");
  else  // that a job has ended is best heard from it
    words.insert(words.end(), {"--states=all", "--name=" + list});
  return joined(words) + " --user=\"$(id -un)\"";
}

std::vector<BatchJob> parse_queue(BatchSystem system, std::string_view output,
                                  const std::vector<std::string>& names) {
  auto jobs = parse_jobs(system, output);
  std::erase_if(
      jobs, [&](const BatchJob& job) { return std::ranges::find(names, job.name) == names.end(); });
  return jobs;
}

bool is_whole(BatchSystem system, std::string_view answer) {
  return answer.find(system == BatchSystem::slurm ? "|REASON|" : "</job_info>") != answer.npos;
}

std::vector<std::string> desk_words(const DeskRequest& desk) {
  const bool is_slurm = desk.system == BatchSystem::slurm;
  BatchRequest request = desk.job;
  request.slots = 1;  // as many as each array's tasks want
  const std::string name = desk.name + "-@BATCH@";
  auto words = is_slurm ? sbatch_words(request, name) : qsub_words(request, name);
  std::erase(words, "--cpus-per-task=1");
  add_directives(words, request);
  const bool has_environment = std::ranges::find(words, "-pe") != words.end();
  std::string submit = joined(words);
  const bool has_memory = std::ranges::any_of(
      request.directives, [](const auto& directive) { return directive.starts_with("--mem"); });
  if (is_slurm && !has_memory) submit += " @MEMORY@";
  submit += is_slurm ? " --cpus-per-task=@CORES@ --array=1-@COUNT@"
                     : fmt::format("{} -t 1-@COUNT@", has_environment ? "" : " @PE@");
  if (!is_slurm && !has_environment) submit = check_of_cores(request) + submit;
  const std::string folder = shell_quoted(desk.folder);
  submit += fmt::format(
      " <<'{0}'\n"
      "#!/bin/sh\n"
      "umask 077\n"
      "cd @SCRATCH@ || exit 1\n"
      "exec {1} job {2} @BATCH@ . >>{2}/job.log 2>&1 </dev/null\n"
      "{0}",
      desk.end, shell_quoted(desk.program), folder);
  return {is_slurm ? "slurm" : "sge",   desk.name, std::to_string(desk.most),
          fmt::format("{}", desk.rate), submit,    queue_command(desk.system, {}),
          is_slurm ? "scancel" : "qdel"};
}

std::string cancel_command(BatchSystem system, const std::vector<std::string>& ids) {
  return (system == BatchSystem::slurm ? "scancel " : "qdel ") + joined(ids);
}

}  // namespace gantry
