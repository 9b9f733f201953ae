#pragma once
/// All combinations of the parameters' values, numbered from 0: a product of axes whose last one
/// varies fastest, like nested loops. An axis is a parameter, several linked ones, or a whole
/// sample. Combination i is computed from i alone. One thread (a sampler keeps scratch between
/// calls).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/sweep_definition.hpp"

namespace gantry {

/// More tasks than this are refused: a run keeps the state of each in memory, some 30 bytes.
inline constexpr std::uint64_t kMaxTasks = 100'000'000;
/// Of one parameter; those of which only some are sampled cost nothing.
inline constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 31U;

class ParameterSpace {
 public:
  /// `parameters` are read during the call only; `file` is for messages.
  static Result<ParameterSpace> build(std::span<const ParameterDefinition> parameters,
                                      const std::optional<SampleDefinition>& sample,
                                      const std::string& file);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// REQUIRES: index < size(); out.size() == number of parameters.
  void locate(std::uint32_t index, std::span<ValuePosition> out);

  /// The first combination of every distinct choice of the given parameters: enough to look at each
  /// text that a template of theirs can have.
  void for_each_choice(std::span<const std::uint32_t> parameters,
                       const std::function<bool(std::uint32_t index)>& visit) const;
  /// Knowing the values of these parameters means knowing the combination, if the values of each
  /// are distinct.
  [[nodiscard]] bool determined_by(std::span<const std::uint32_t> parameters) const;

 private:
  /// Parameters that move together.
  struct Linked {
    std::vector<std::uint32_t> parameters;
    std::uint32_t size = 0;  ///< 0 = continuous
    bool sampled = false;
  };
  struct Axis {
    std::uint32_t size = 0;
    std::vector<Linked> dimensions;  ///< of a sample; otherwise exactly one
    std::unique_ptr<Sampler> sampler;
  };

  static Result<std::vector<Linked>> link(std::span<const ParameterDefinition> parameters,
                                          const std::optional<SampleDefinition>& sample,
                                          const std::string& file);
  Result<> add_axes(std::vector<Linked> groups, const std::optional<SampleDefinition>& sample,
                    const std::string& file);

  static bool has_any(const Axis& axis, std::span<const std::uint32_t> parameters);

  std::vector<Axis> axes_;
  std::vector<double> point_;
  std::uint32_t size_ = 1;
};

}  // namespace gantry
