#include "model/parameter_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gantry {

namespace {

constexpr std::string_view kFewer =
    "make several sweeps of it, or take some of the values with sample: in a sweep file";

bool is_sampled(const ParameterDefinition& parameter,
                const std::optional<SampleDefinition>& sample) {
  if (!sample) return false;
  const auto& names = sample->parameters;
  return names.empty() || std::find(names.begin(), names.end(), parameter.name) != names.end();
}

Result<> check_parameter(const ParameterDefinition& parameter, bool sampled,
                         const std::string& file) {
  const std::uint64_t size = parameter.values.size();
  if (parameter.values.continuous()) {
    if (sampled) return {};
    return fail_at(file, parameter.mark,
                   fmt::format("'{}' has no fixed values: it can only be sampled", parameter.name),
                   "add sample: {method: latin-hypercube, n: 100}");
  }
  if (size == 0)
    return fail_at(file, parameter.mark,
                   fmt::format("parameter '{}' has no values", parameter.name));
  if (sampled && size > kMaxValues) {
    return fail_at(file, parameter.mark,
                   fmt::format("parameter '{}' has {} values; a sample can be taken of at most {}",
                               parameter.name, size, kMaxValues),
                   "use uniform: or loguniform: with its bounds");
  }
  if (!sampled && size > kMaxTasks) {
    return fail_at(file, parameter.mark,
                   fmt::format("parameter '{}' has {} values; a sweep has at most {} tasks",
                               parameter.name, size, kMaxTasks),
                   std::string(kFewer));
  }
  return {};
}

}  // namespace

Result<std::vector<ParameterSpace::Linked>> ParameterSpace::link(
    std::span<const ParameterDefinition> parameters, const std::optional<SampleDefinition>& sample,
    const std::string& file) {
  std::vector<Linked> groups;
  for (std::uint32_t p = 0; p < parameters.size(); ++p) {
    const auto& parameter = parameters[p];
    const bool sampled = is_sampled(parameter, sample);
    TRY(check_parameter(parameter, sampled, file));
    const auto size = static_cast<std::uint32_t>(parameter.values.size());
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Linked& group) {
      return parameter.link != 0 && parameters[group.parameters[0]].link == parameter.link;
    });
    if (same == groups.end()) {
      groups.push_back({{p}, size, sampled});
      continue;
    }
    const auto& first = parameters[same->parameters[0]];
    if (same->size != size) {
      return fail_at(file, parameter.mark,
                     fmt::format("'{}' has {} values, but '{}', which it is linked with, has {}",
                                 parameter.name, size, first.name, same->size),
                     "linked parameters need equally many values");
    }
    if (same->sampled != sampled) {
      return fail_at(file, sample->mark,
                     fmt::format("'{}' and '{}' are linked: sample both or neither", first.name,
                                 parameter.name));
    }
    same->parameters.push_back(p);
  }
  return groups;
}

Result<> ParameterSpace::add_axes(std::vector<Linked> groups,
                                  const std::optional<SampleDefinition>& sample,
                                  const std::string& file) {
  std::optional<std::size_t> sample_axis;
  for (auto& group : groups) {
    if (!group.sampled) {
      axes_.push_back({group.size, {}, nullptr});
      axes_.back().dimensions.push_back(std::move(group));
      continue;
    }
    if (!sample_axis) {
      sample_axis = axes_.size();
      axes_.push_back({sample->points, {}, nullptr});
    }
    axes_[*sample_axis].dimensions.push_back(std::move(group));
  }
  if (!sample) return {};
  if (!sample_axis) return fail_at(file, sample->mark, "there is no parameter to sample");
  if (sample->points == 0) return fail_at(file, sample->mark, "a sample needs at least 1 point");
  auto& axis = axes_[*sample_axis];
  auto sampler =
      Sampler::make(sample->method, sample->points, axis.dimensions.size(), sample->seed);
  if (!sampler) return fail_at(file, sample->mark, sampler.error().message, sampler.error().hint);
  axis.sampler = std::make_unique<Sampler>(std::move(*sampler));
  point_.resize(axis.dimensions.size());
  return {};
}

Result<ParameterSpace> ParameterSpace::build(std::span<const ParameterDefinition> parameters,
                                             const std::optional<SampleDefinition>& sample,
                                             const std::string& file) {
  ParameterSpace space;
  TRY_ASSIGN(auto groups, link(parameters, sample, file));
  TRY(space.add_axes(std::move(groups), sample, file));
  std::uint64_t size = 1;
  for (const auto& axis : space.axes_) {
    size *= axis.size;  // one factor is at most kMaxTasks, the other has 32 bits: no overflow
    if (size > kMaxTasks) {
      const auto& culprit = parameters[axis.dimensions[0].parameters[0]];
      return fail_at(
          file, culprit.mark,
          fmt::format("the parameters up to '{}' make {} or more tasks; a sweep has at most {}",
                      culprit.name, size, kMaxTasks),
          std::string(kFewer));
    }
  }
  space.size_ = static_cast<std::uint32_t>(size);
  return space;
}

void ParameterSpace::locate(std::uint32_t index, std::span<ValuePosition> out) {
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
    const std::uint32_t at = index % axis->size;
    index /= axis->size;
    if (!axis->sampler) {
      for (const auto p : axis->dimensions[0].parameters) out[p] = {at, 0};
      continue;
    }
    axis->sampler->point(at, point_);
    for (std::size_t d = 0; d < axis->dimensions.size(); ++d) {
      const auto& dimension = axis->dimensions[d];
      ValuePosition position{0, point_[d]};
      if (dimension.size != 0) {
        position = {
            std::min(static_cast<std::uint32_t>(point_[d] * dimension.size), dimension.size - 1),
            0};
      }
      for (const auto p : dimension.parameters) out[p] = position;
    }
  }
}

bool ParameterSpace::has_any(const Axis& axis, std::span<const std::uint32_t> parameters) {
  return std::any_of(axis.dimensions.begin(), axis.dimensions.end(), [&](const Linked& dimension) {
    return std::find_first_of(dimension.parameters.begin(), dimension.parameters.end(),
                              parameters.begin(), parameters.end()) != dimension.parameters.end();
  });
}

bool ParameterSpace::determined_by(std::span<const std::uint32_t> parameters) const {
  return std::all_of(axes_.begin(), axes_.end(), [&](const Axis& axis) {
    return axis.size == 1 || (!axis.sampler && has_any(axis, parameters));
  });
}

void ParameterSpace::for_each_choice(std::span<const std::uint32_t> parameters,
                                     const std::function<bool(std::uint32_t)>& visit) const {
  struct Digit {
    std::uint32_t size;
    std::uint32_t stride;
    std::uint32_t value;
  };
  std::vector<Digit> digits;  // fastest first
  std::uint64_t stride = 1;
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
    if (has_any(*axis, parameters))
      digits.push_back({axis->size, static_cast<std::uint32_t>(stride), 0});
    stride *= axis->size;
  }
  for (std::uint32_t index = 0;;) {
    if (!visit(index)) return;
    std::size_t d = 0;
    for (; d < digits.size(); ++d) {
      auto& digit = digits[d];
      if (++digit.value < digit.size) {
        index += digit.stride;
        break;
      }
      index -= digit.stride * (digit.size - 1);
      digit.value = 0;
    }
    if (d == digits.size()) return;
  }
}

}  // namespace gantry
