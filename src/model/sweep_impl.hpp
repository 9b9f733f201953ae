#pragma once
/// The inside of a Sweep: the definition, its parsed templates and expressions, and the scratch
/// that holds the values of the task looked at last. Included by sweep*.cpp only. One thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/expression.hpp"
#include "model/parameter_space.hpp"
#include "model/result_rules.hpp"
#include "model/sweep.hpp"
#include "model/sweep_definition.hpp"
#include "model/template.hpp"

namespace gantry {

/// The longest argument or environment entry that Linux passes to a program (MAX_ARG_STRLEN, with
/// its NUL).
inline constexpr std::size_t kMaxArgument = 131071;

struct Sweep::Impl {
  SweepDefinition definition;
  ParameterSpace space;
  Digest digest;
  Digest study_digest;

  // A slot is what a placeholder stands for: the parameters, the derived values, the task's number,
  // base_dir.
  SlotNames slot_names;
  std::uint32_t task_slot = 0;
  std::uint32_t base_slot = 0;

  std::optional<ExpressionSet> expressions;  ///< variables have the numbers of their slots
  std::vector<std::size_t> derived;          ///< expression of each derived value
  std::optional<std::size_t> cost;
  bool filtered = false;
  std::vector<std::uint32_t> kept;  ///< with a filter: the combination of each point
  /// Consecutive tasks that are consecutive points.
  struct Numbered {
    std::uint32_t first = 0;  ///< number of a task
    PointRange points;
    [[nodiscard]] bool holds(std::uint32_t number) const { return number - first < points.count; }
  };
  std::vector<Numbered> numbers;  ///< ascending by task
  Numbered looked_at;             ///< one of these, or none
  std::vector<std::vector<double>>
      listed_numbers;  ///< by parameter: values of numeric lists in expressions

  std::vector<TextTemplate> argv;
  std::vector<TextTemplate> environment;
  TextTemplate workdir;
  std::vector<TextTemplate> inputs;
  std::vector<TextTemplate> outputs;
  std::optional<TextTemplate> cores;
  std::optional<TextTemplate> memory;
  std::optional<TextTemplate> walltime;
  std::optional<TextTemplate> timeout;
  ResultRules results;
  std::vector<TextTemplate> result_files;  ///< by rule; empty for standard output
  bool program_is_relative =
      false;  ///< argv[0] is a path below base_dir, but the task runs elsewhere

  // Scratch: the values of the task selected last.
  std::uint32_t selected = 0;  ///< its number; 0 = none
  bool placed = false;  ///< `positions` and the parameters' values are those of some combination
  std::vector<ValuePosition> positions;
  std::vector<ValuePosition> wanted;
  std::vector<std::string> buffers;
  std::vector<std::string_view> values;  ///< by slot; point into buffers or the definition
  std::string text;

  explicit Impl(SweepDefinition d, ParameterSpace s);

  /// Nothing if there is no such task.
  [[nodiscard]] std::optional<std::uint32_t> point_of(std::uint32_t number);
  /// Makes `values` those of the task. REQUIRES: there is one.
  void select(std::uint32_t number);
  void set_task_number(std::uint32_t number);
  /// Only the parameters' values, of a combination that need not be a task.
  void place(std::uint32_t combination);
  [[nodiscard]] std::uint32_t size() const {
    return filtered ? static_cast<std::uint32_t>(kept.size()) : space.size();
  }
  [[nodiscard]] std::uint32_t parameter_count() const {
    return static_cast<std::uint32_t>(definition.parameters.size());
  }
  /// Parameters and derived values.
  [[nodiscard]] std::uint32_t binding_count() const { return task_slot; }
  [[nodiscard]] const std::string& binding_name(std::uint32_t slot) const {
    return slot < parameter_count() ? definition.parameters[slot].name
                                    : definition.derived[slot - parameter_count()].name;
  }

  /// Of the selected task: its directory, a rendered path below a base directory, its amounts.
  void render_workdir(std::string& out) const;
  void render_path(const TextTemplate& path, std::string_view base, std::string& out) const;
  [[nodiscard]] std::vector<std::string> render_result_files() const;
  [[nodiscard]] Result<Resources> render_resources();
  [[nodiscard]] Result<Duration> render_timeout();

  /// Tasks that show every text a template of these slots can have: their numbers, until visit says
  /// false.
  void for_each_choice(const std::vector<std::uint32_t>& slots,
                       const std::function<bool(std::uint32_t number)>& visit);
  void for_each_template(const std::function<void(const TextTemplate&)>& visit) const;

  /// What a task is declared to write: outputs, and the files that results are read from.
  struct Written {
    const TextTemplate* path;
    const SourceText* source;
    bool is_result;
  };
  [[nodiscard]] std::vector<Written> written_files() const;
  [[nodiscard]] bool surely_differ(const std::vector<Written>& files) const;
  [[nodiscard]] bool is_input(const std::string& path) const;

  bool learns_varying = false;  ///< for some parameter values, the memory is to be learnt

  // Steps of build(), in this order.
  Result<> check_names() const;
  Result<> parse_expressions();
  Result<> filter();
  Result<> check_expressions();
  Result<> parse_templates();
  Result<> check_resources();
  Result<> check_lengths();
  Result<> check_written_files();
  enum class DigestOf : std::uint8_t { tasks, study };
  [[nodiscard]] Digest compute_digest(DigestOf what) const;
};

}  // namespace gantry
