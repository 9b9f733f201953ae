#pragma once
/// The inside of a Sweep: the definition, its parsed templates, and the scratch that holds the
/// values of the task looked at last. Included by sweep*.cpp only. One thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameter_space.hpp"
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

  // A slot is what a placeholder stands for: the parameters, then the task's number, then the base
  // directory.
  SlotNames slot_names;
  std::uint32_t task_slot = 0;
  std::uint32_t base_slot = 0;

  std::vector<TextTemplate> argv;
  std::vector<TextTemplate> environment;
  TextTemplate workdir;
  std::vector<TextTemplate> inputs;
  std::vector<TextTemplate> outputs;
  bool program_is_relative =
      false;  ///< argv[0] is a path below base_dir, but the task runs elsewhere

  // Scratch: the values of the task selected last.
  std::uint32_t selected = 0;  ///< its number; 0 = none
  std::vector<ValuePosition> positions;
  std::vector<ValuePosition> wanted;
  std::vector<std::string> buffers;
  std::vector<std::string_view> values;  ///< by slot; point into buffers or the definition

  explicit Impl(SweepDefinition d, ParameterSpace s);

  /// Makes `values` those of the task. REQUIRES: 1 <= number <= size.
  void select(std::uint32_t number);
  [[nodiscard]] std::uint32_t size() const { return space.size(); }
  [[nodiscard]] std::uint32_t parameter_count() const {
    return static_cast<std::uint32_t>(definition.parameters.size());
  }

  /// The selected task's directory, and a rendered path below a base directory.
  void render_workdir(std::string& out) const;
  void render_path(const TextTemplate& path, std::string_view base, std::string& out) const;

  Result<> parse_templates();
  Result<> check_names() const;
  Result<> check_lengths();
  Result<> check_outputs();
  [[nodiscard]] Digest compute_digest() const;
};

}  // namespace gantry
