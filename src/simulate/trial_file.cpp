#include "simulate/trial_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/whole_number.hpp"
#include "model/decimal.hpp"

namespace gantry::simulate {

namespace {

constexpr std::string_view kTrialColumns =
    "point,repetition,scheduler,makespan_s,bytes_moved,bound_compute_s,bound_data_s\n";

/// A row of the file; empty when it is none.
using TrialFields = std::array<std::string_view, 7>;

std::optional<TrialFields> fields_of(std::string_view row) {
  TrialFields fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t comma = row.find(',');
    const bool is_last = i + 1 == fields.size();
    if (is_last != (comma == std::string_view::npos)) return std::nullopt;
    fields[i] = row.substr(0, comma);
    if (!is_last) row.remove_prefix(comma + 1);
  }
  return fields;
}

bool is_positive(std::optional<double> number) {
  return number && *number > 0 && std::isfinite(*number);
}

}  // namespace

TrialFile::TrialFile(std::filesystem::path path, const Experiment& experiment)
    : path_(std::move(path)), points_(experiment.points), schedulers_(experiment.schedulers) {}

Result<TrialFile> TrialFile::open(const std::filesystem::path& path, const Experiment& experiment,
                                  std::string_view pin) {
  TrialFile file(path, experiment);
  TRY_ASSIGN(file.fd_, open_file(path, O_RDWR | O_CREAT | O_APPEND));
  if (::flock(file.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno(fmt::format("cannot lock {}", path.string()));
    return fail(ErrorCode::busy, fmt::format("another gantry writes to {}", path.string()),
                "wait for it, or give another folder with --out");
  }
  TRY_ASSIGN(const std::string text, read_file(path));
  const std::string first = fmt::format("# {}\n", pin);
  const std::string head = first + std::string(kTrialColumns);
  std::size_t whole = 0;
  if (text.starts_with(head)) {
    TRY_ASSIGN(whole, file.read(std::string_view(text).substr(head.size()), 3));
    whole += head.size();
  } else if (!head.starts_with(text)) {
    std::string_view theirs = std::string_view(text).substr(0, text.find('\n'));
    theirs = theirs.substr(0, 400);
    return fail(ErrorCode::usage,
                fmt::format("{}:1:1: this file holds other trials:\n{}\nnot those of\n{}",
                            path.string(), theirs, first.substr(0, first.size() - 1)),
                "give the same options again, another folder with --out, or remove the file");
  }
  if (whole < text.size() && ::ftruncate(file.fd_.get(), static_cast<off_t>(whole)) != 0)
    return fail_errno(fmt::format("cannot shorten {}", path.string()));
  if (whole == 0) TRY(write_all(file.fd_.get(), head));
  return file;
}

Result<std::size_t> TrialFile::read(std::string_view text, std::size_t first_line) {
  std::size_t whole = 0;
  std::size_t line = first_line;
  std::vector<std::string_view> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    rows.push_back(text.substr(at, end - at));
    at = end + 1;
    if (rows.size() < schedulers_.size()) continue;
    TRY_ASSIGN(auto trial, trial_in(rows, line));
    keep(std::move(trial));
    whole = at;
    line += rows.size();
    rows.clear();
  }
  return whole;
}

/// The rows of a trial are written together: those of all schedulers, in their order.
Result<TrialOutcome> TrialFile::trial_in(const std::vector<std::string_view>& rows,
                                         std::size_t line) const {
  TrialOutcome trial;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::usage, fmt::format("{}:{}:1: {}", path_.string(), line + i, what),
                  "the file is not as gantry wrote it: remove it, or give another --out");
    };
    const auto fields = fields_of(rows[i]);
    if (!fields) return wrong("a row has 7 fields");
    const auto& [label, number, scheduler, makespan, bytes, compute, data] = *fields;
    const auto point = std::ranges::find(points_, label);
    if (point == points_.end()) return wrong(fmt::format("there is no point '{}'", label));
    const auto repetition = parse_whole<std::uint32_t>(number);
    if (!repetition) return wrong(fmt::format("'{}' is no repetition", number));
    if (scheduler != schedulers_[i])
      return wrong(fmt::format("'{}' stands where '{}' should", scheduler, schedulers_[i]));
    const auto index = static_cast<std::size_t>(point - points_.begin());
    if (i > 0 && (index != trial.point || *repetition != trial.repetition))
      return wrong("a trial has a row for each scheduler");
    const auto moved = parse_number(bytes);
    if (!is_positive(parse_number(makespan)) || !is_positive(parse_number(compute)) ||
        !is_positive(parse_number(data)) || !moved || !(*moved >= 0) || !std::isfinite(*moved))
      return wrong("a number is missing or out of range");
    trial.point = index;
    trial.repetition = *repetition;
    trial.compute_bound = *parse_number(compute);
    trial.data_bound = *parse_number(data);
    trial.makespans.push_back(*parse_number(makespan));
    trial.bytes_moved.push_back(*moved);
  }
  return trial;
}

void TrialFile::keep(TrialOutcome trial) {
  if (numbers_.emplace(trial.point, trial.repetition).second) trials_.push_back(std::move(trial));
}

Result<> TrialFile::append(const TrialOutcome& trial) {
  std::string rows;
  for (std::size_t i = 0; i < schedulers_.size(); ++i)
    rows += fmt::format("{},{},{},{},{},{},{}\n", points_[trial.point], trial.repetition,
                        schedulers_[i], format_number(trial.makespans[i]),
                        format_number(trial.bytes_moved[i]), format_number(trial.compute_bound),
                        format_number(trial.data_bound));
  if (const auto written = write_all(fd_.get(), rows); !written)
    return fail(written.error().code,
                fmt::format("cannot write {}: {}", path_.string(), written.error().message),
                "what is in the file is kept: the same command goes on from there");
  keep(trial);
  return {};
}

}  // namespace gantry::simulate
