#include "agent/batch_queue.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/characters.hpp"
#include "base/whole_number.hpp"

namespace gantry {

namespace {

constexpr std::size_t kMaxReason = 300;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 20 && std::all_of(text.begin(), text.end(), is_digit);
}

/// 0 when it is none: "N/A", "undefined", "5-9:1".
std::uint32_t element_number(std::string_view text) {
  return parse_whole<std::uint32_t>(text).value_or(0);
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

JobState slurm_state(std::string_view word) {
  if (word == "RUNNING") return JobState::running;
  constexpr std::array<std::string_view, 5> kWaiting{"PENDING", "CONFIGURING", "REQUEUED",
                                                     "REQUEUE_HOLD", "RESV_DEL_HOLD"};
  // Jobs of ours are not requeued: one that was preempted is over.
  constexpr std::array<std::string_view, 9> kOver{"COMPLETED", "CANCELLED", "FAILED",
                                                  "TIMEOUT",   "NODE_FAIL", "PREEMPTED",
                                                  "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY"};
  const auto is_one_of = [&](const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (is_one_of(kWaiting)) return JobState::queued;
  if (word == "SUSPENDED" || word == "STOPPED") return JobState::suspended;
  return is_one_of(kOver) ? JobState::ended : JobState::ending;
}

/// Slurm may take what it cannot run (EnforcePartLimits=NO), and then says this as long as it
/// waits. That nodes are down, or busy, has other words.
bool waits_for_ever(std::string_view reason) {
  return reason == "PartitionConfig" || reason == "BadConstraints";
}

/// Letters like qw, t, r, dr, Eqw.
JobState sge_state(std::string_view letters) {
  const auto has = [&](char c) { return letters.find(c) != std::string_view::npos; };
  if (has('d')) return JobState::ending;
  if (has('E')) return JobState::stuck;
  if (has('s') || has('S') || has('T')) return JobState::suspended;
  if (has('r')) return JobState::running;
  return JobState::queued;
}

/// The text of the first <tag> in `xml`.
std::string_view element(std::string_view xml, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  xml.remove_prefix(begin + open.size());
  return xml.substr(0, std::min(xml.find('<'), xml.size()));
}

/// Up to the next '|', which is taken away.
std::string_view take_field(std::string_view& line) {
  const std::size_t end = std::min(line.find('|'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

/// In small letters.
std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return lower;
}

bool says_any(std::string_view text, const auto& phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

std::vector<BatchJob> parse_squeue(std::string_view output) {
  std::vector<BatchJob> jobs;
  for_each_line(output, [&](std::string_view line) {
    const std::string_view id = take_field(line);
    const std::string_view number = take_field(line);
    JobState state = slurm_state(take_field(line));
    const std::string_view reason = take_field(line);
    if (line.empty()) return;
    if (state == JobState::queued && waits_for_ever(reason)) state = JobState::unfit;
    jobs.push_back(
        {std::string(id), std::string(line), state, element_number(number), std::string(reason)});
  });
  return jobs;
}

std::vector<BatchJob> parse_qstat(std::string_view output) {
  constexpr std::string_view kJob = "<job_list";
  std::vector<BatchJob> jobs;
  for (std::size_t at = output.find(kJob); at != output.npos;) {
    const std::size_t next = output.find(kJob, at + kJob.size());
    const std::string_view job = output.substr(at, next == output.npos ? next : next - at);
    jobs.push_back({std::string(gantry::element(job, "JB_job_number")),
                    std::string(gantry::element(job, "JB_name")),
                    sge_state(gantry::element(job, "state")),
                    element_number(gantry::element(job, "tasks"))});
    at = next;
  }
  return jobs;
}

}  // namespace

std::vector<BatchJob> parse_jobs(BatchSystem system, std::string_view output) {
  auto jobs = system == BatchSystem::slurm ? parse_squeue(output) : parse_qstat(output);
  std::erase_if(jobs, [](const BatchJob& job) { return !is_number(job.id); });
  return jobs;
}

std::optional<std::string> parse_job_id(std::string_view output) {
  // Site's own scripts may print before and after it. Slurm appends ";cluster", Grid Engine the
  // elements of an array: "7.1-20:1".
  std::optional<std::string> id;
  for_each_line(output, [&](std::string_view line) {
    const std::string_view number = line.substr(0, line.find_first_of(";."));
    if (is_number(number)) id = std::string(number);
  });
  return id;
}

std::string reason_in(std::string_view output) {
  std::string_view reason;
  for_each_line(output, [&](std::string_view line) {
    const bool says = std::any_of(line.begin(), line.end(), [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0;
    });
    // The line before it says more.
    if (says && !line.starts_with("Exiting.") && !line.starts_with("See ") &&
        !line.starts_with("verification:"))
      reason = line;
  });
  std::string text(reason.substr(0, kMaxReason));
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
  return text;
}

std::string why_not_cancelled(std::string_view output) {
  constexpr std::array<std::string_view, 6> kWell{"already complet", "invalid job id",
                                                  "does not exist",  "has registered",
                                                  "has deleted",     "already in deletion"};
  std::string rest;
  for_each_line(output, [&](std::string_view line) {
    if (!says_any(lowered(line), kWell)) rest.append(line).push_back('\n');
  });
  return reason_in(rest);
}

SubmitProblem why_not_taken(std::string_view output) {
  constexpr std::array<std::string_view, 10> kHopeless{
      "invalid partition",
      "invalid account",
      "invalid qos",
      "invalid feature",
      "unknown queue",
      "unknown resource",
      "requested node configuration is not available",
      "requested time limit is invalid",
      "memory specification can not be satisfied",
      "only offers 0 slots"};
  // What a login shell prints of its own may say such things, too.
  constexpr std::array<std::string_view, 6> kHopelessOfJobs{
      "unrecognized option", "invalid option",    "unknown option",
      "not found",           "permission denied", "does not exist"};
  constexpr std::array<std::string_view, 5> kOfJobs{"sbatch", "qsub", "slurm", "job", "queue"};
  constexpr std::array<std::string_view, 14> kPassing{
      "limit",          "maximum",   "too many",   "allowed per",  "temporarily",
      "try again",      "timed out", "timeout",    "contact",      "connect",
      "not responding", "commlib",   "zero bytes", "not available"};
  bool passes = false;
  bool hopeless = false;
  for_each_line(output, [&](std::string_view line) {
    const std::string text = lowered(line);
    hopeless = hopeless || says_any(text, kHopeless) ||
               (says_any(text, kHopelessOfJobs) && says_any(text, kOfJobs));
    passes = passes || says_any(text, kPassing);
  });
  if (hopeless) return SubmitProblem::hopeless;
  return passes ? SubmitProblem::passing : SubmitProblem::unknown;
}

}  // namespace gantry
