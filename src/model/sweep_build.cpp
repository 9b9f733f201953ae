#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/decimal.hpp"
#include "model/sweep_impl.hpp"

namespace gantry {

namespace {

Result<> check_text(const SourceText& source, const std::string& file) {
  if (source.text.find('\0') == std::string::npos) return {};
  return fail_at(file, source.mark, "a NUL byte cannot be passed to a program");
}

}  // namespace

Result<Sweep> Sweep::build(SweepDefinition definition) {
  TRY_ASSIGN(auto space,
             ParameterSpace::build(definition.parameters, definition.sample, definition.file));
  auto impl = std::make_unique<Impl>(std::move(definition), std::move(space));
  TRY(impl->check_names());
  TRY(impl->parse_expressions());
  TRY(impl->parse_templates());
  TRY(impl->filter());
  impl->numbers = {{1, {0, impl->size()}}};
  TRY(impl->check_expressions());
  TRY(impl->check_resources());
  TRY(impl->check_lengths());
  TRY(impl->check_written_files());
  impl->digest = impl->compute_digest(Impl::DigestOf::tasks);
  impl->study_digest = impl->compute_digest(Impl::DigestOf::study);
  return Sweep(std::move(impl));
}

Result<> Sweep::Impl::parse_expressions() {
  if (!definition.when && !definition.cost && definition.derived.empty()) return {};
  auto& set = expressions.emplace(definition.file);
  for (const auto& parameter : definition.parameters) {
    if (parameter.values.numeric()) {
      set.add_number(parameter.name);
    } else {
      set.add_text(parameter.name, parameter.values.listed());
    }
  }
  for (const auto& value : definition.derived) {
    TRY_ASSIGN(derived.emplace_back(), set.parse(value.text));
    set.add_number(value.name);
  }
  if (definition.when) TRY(set.parse(*definition.when));  // the one after the derived values
  if (definition.cost) {
    TRY_ASSIGN(cost.emplace(), set.parse(*definition.cost));
  }
  set.finish();
  for (std::size_t p = 0; p < definition.parameters.size(); ++p) {
    const auto& source = definition.parameters[p].values;
    if (!set.uses(p) || !source.numeric()) continue;
    for (const auto& value : source.listed())
      listed_numbers[p].push_back(parse_number(value).value_or(0));
  }
  return {};
}

Result<> Sweep::Impl::filter() {
  if (!definition.when) return {};
  for (std::uint32_t combination = 0; combination < space.size(); ++combination) {
    place(combination);
    for (std::size_t d = 0; d < derived.size(); ++d) {
      expressions->set_number(parameter_count() + d, expressions->evaluate(derived[d]));
    }
    const double value = expressions->evaluate(derived.size());
    if (value != 0 && !std::isnan(value)) kept.push_back(combination);
  }
  kept.shrink_to_fit();
  filtered = true;
  if (!kept.empty()) return {};
  return fail_at(definition.file, definition.when->mark,
                 fmt::format("none of the {} combinations passes this filter", space.size()));
}

Result<> Sweep::Impl::check_expressions() {
  if (derived.empty() && !cost) return {};
  std::vector<std::uint32_t> slots;
  for (std::uint32_t p = 0; p < parameter_count(); ++p) {
    if (expressions->uses(p)) slots.push_back(p);
  }
  Result<> status;
  for_each_choice(slots, [&](std::uint32_t number) {
    select(number);
    for (std::size_t d = 0; d < derived.size(); ++d) {
      const auto& value = values[parameter_count() + d];
      if (parse_number(value)) continue;
      status = fail_at(
          definition.file, definition.derived[d].text.mark,
          fmt::format("'{}' of task {} would be {}", definition.derived[d].name, number, value));
      return false;
    }
    const double relative = cost ? expressions->evaluate(*cost) : 1;
    // To divide by less would be as good as dividing by 0.
    constexpr double kLeastCost = 1e-300;
    if (relative >= kLeastCost && std::isfinite(relative)) return true;
    status = fail_at(
        definition.file, definition.cost->mark,
        fmt::format("the cost of task {} would be {}; it must be finite, and 1e-300 or more",
                    number, format_number(relative)));
    return false;
  });
  return status;
}

Result<> Sweep::Impl::parse_templates() {
  const auto parse = [&](const SourceText& source) -> Result<TextTemplate> {
    TRY(check_text(source, definition.file));
    return TextTemplate::parse(source, slot_names, definition.file);
  };
  const auto parse_all = [&](const std::vector<SourceText>& sources,
                             std::vector<TextTemplate>& out) -> Result<> {
    for (const auto& source : sources) {
      TRY_ASSIGN(out.emplace_back(), parse(source));
    }
    return {};
  };
  const auto parse_optional = [&](const std::optional<SourceText>& source,
                                  std::optional<TextTemplate>& out) -> Result<> {
    if (!source) return {};
    TRY_ASSIGN(out.emplace(), parse(*source));
    return {};
  };
  if (definition.command.empty()) return fail_at(definition.file, {}, "the command is empty");
  if (definition.shell) {
    TRY(check_text(definition.command[0], definition.file));
    TRY_ASSIGN(auto script,
               TextTemplate::parse_shell(definition.command[0], slot_names, definition.file));
    TRY(parse_all({{"/bin/sh", {}, false}, {"-c", {}, false}}, argv));
    argv.push_back(std::move(script));
  } else {
    TRY(parse_all(definition.command, argv));
    const auto& program = definition.command[0].text;
    program_is_relative = !definition.workdir.text.empty() && !program.starts_with('/') &&
                          program.find('/') != std::string::npos;
  }
  for (const auto& variable : definition.environment) {
    TRY_ASSIGN(environment.emplace_back(), parse(variable.text));
  }
  TRY_ASSIGN(workdir, parse(definition.workdir));
  TRY(parse_all(definition.inputs, inputs));
  TRY(parse_all(definition.outputs, outputs));
  TRY(parse_optional(definition.varying.cores, cores));
  TRY(parse_optional(definition.varying.memory, memory));
  TRY(parse_optional(definition.varying.walltime, walltime));
  TRY(parse_optional(definition.varying.timeout, timeout));
  for (const auto& rule : definition.results) {
    TRY_ASSIGN(result_files.emplace_back(), parse(rule.file));
  }
  TRY_ASSIGN(results, ResultRules::compile(definition.results, definition.file));
  return {};
}

Digest Sweep::program_digest() const {
  const SweepDefinition& definition = impl_->definition;
  Hasher hasher;
  hasher.add("program 1").add(definition.shell ? 1 : 0).add(definition.command.size());
  for (const auto& source : definition.command) hasher.add(source.text);
  for (std::uint32_t slot = 0; slot < impl_->binding_count(); ++slot)
    hasher.add(impl_->binding_name(slot));
  return hasher.digest();
}

Digest Sweep::Impl::compute_digest(DigestOf what) const {
  const bool points = what == DigestOf::tasks;
  Hasher hasher;
  const auto add_all = [&](const std::vector<SourceText>& texts) {
    hasher.add(texts.size());
    for (const auto& source : texts) hasher.add(source.text);
  };
  const auto add_named = [&](const std::vector<NamedText>& texts) {
    hasher.add(texts.size());
    for (const auto& source : texts) hasher.add(source.name).add(source.text.text);
  };
  hasher.add(points ? "sweep 1" : "study 1").add(definition.name).add(definition.base_dir);
  hasher.add(definition.shell ? 1 : 0);
  add_all(definition.command);
  hasher.add(definition.parameters.size());
  for (const auto& parameter : definition.parameters) {
    hasher.add(parameter.name);
    if (!points) continue;
    hasher.add(parameter.link);
    parameter.values.add_to(hasher);
  }
  if (points) {
    hasher.add(definition.sample ? 1 : 0);
    if (const auto& sample = definition.sample) {
      hasher.add(static_cast<std::uint64_t>(sample->method)).add(sample->points).add(sample->seed);
      hasher.add(sample->parameters.size());
      for (const auto& name : sample->parameters) hasher.add(name);
    }
    hasher.add(definition.when ? definition.when->text : "");
  }
  add_named(definition.derived);
  add_named(definition.environment);
  hasher.add(definition.workdir.text);
  add_all(definition.inputs);
  add_all(definition.outputs);
  hasher.add(results.digest());
  return hasher.digest();
}

}  // namespace gantry
