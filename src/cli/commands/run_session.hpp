#pragma once
/// One call of driver::drive() as a person meets it: progress while it goes on, at its end the
/// outputs that were known already, a results table, the failures by cause and what to type next.
/// Shared by `run` and `retry`.

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/run_reporter.hpp"
#include "cli/commands/study.hpp"
#include "cli/context.hpp"
#include "driver/driver.hpp"

namespace gantry::cli {

struct SessionOptions {
  driver::Options how{};            ///< as far as it is said in the driver's own terms
  std::optional<std::string> grid;  ///< a grid file; none = this machine
  std::string scheduler;  ///< empty = the default, which depends on whether there is a grid
  bool no_duplicates = false;
  std::optional<std::string> learn_for;  ///< a duration; none = always
  bool quiet = false;
  bool json = false;
  bool no_progress = false;
  bool output = false;
  bool no_output = false;
  bool join = false;  ///< the gantry that drives runs here, if there is one
  bool keep_order = false;
  bool tag = false;
  std::string job_log;
};

/// -j: how many cores of this machine are used.
CLI::Option* add_jobs_option(CLI::App& command, std::uint32_t& jobs);
void add_session_options(CLI::App& command, SessionOptions& options);

/// Drives the studies at once, each with its weight; `options.how` says which run and which tasks.
/// The value is the exit code.
Result<int> run_session(Context& context, std::vector<Study>& studies,
                        const std::vector<double>& weights, const SessionOptions& options);

}  // namespace gantry::cli
