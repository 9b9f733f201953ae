#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "model/suggest.hpp"
#include "model/sweep_impl.hpp"

namespace gantry {

namespace {

Result<> check_text(const SourceText& source, const std::string& file) {
  if (source.text.find('\0') == std::string::npos) return {};
  return fail_at(file, source.mark, "a NUL byte cannot be passed to a program");
}

Result<> check_values(const ParameterDefinition& parameter, const std::string& file) {
  // GANTRY_PARAM_<name>=<value> has to fit as well.
  const std::size_t room = kMaxArgument - parameter.name.size() - 14;
  std::size_t i = 0;
  for (const auto& value : parameter.values.listed()) {
    ++i;
    if (value.find('\0') != std::string::npos) {
      return fail_at(
          file, parameter.mark,
          fmt::format("value {} of '{}' contains a NUL byte, which cannot be passed to a program",
                      i, parameter.name));
    }
    if (value.size() > room) {
      return fail_at(
          file, parameter.mark,
          fmt::format("value {} of '{}' is {} bytes long; Linux passes at most {} to a program", i,
                      parameter.name, value.size(), room),
          "put it into a file and pass the file's name");
    }
  }
  return {};
}

}  // namespace

Result<Sweep> Sweep::build(SweepDefinition definition) {
  TRY_ASSIGN(auto space,
             ParameterSpace::build(definition.parameters, definition.sample, definition.file));
  auto impl = std::make_unique<Impl>(std::move(definition), std::move(space));
  TRY(impl->check_names());
  TRY(impl->parse_templates());
  TRY(impl->check_lengths());
  TRY(impl->check_outputs());
  impl->digest = impl->compute_digest();
  return Sweep(std::move(impl));
}

Result<> Sweep::Impl::check_names() const {
  std::set<std::string_view> seen;
  for (const auto& parameter : definition.parameters) {
    const auto& name = parameter.name;
    if (!is_parameter_name(name)) {
      return fail_at(definition.file, parameter.mark,
                     fmt::format("'{}' cannot be a parameter's name", name),
                     "a name has letters, digits and '_' and does not begin with a digit");
    }
    if (name.starts_with("gantry_")) {
      return fail_at(definition.file, parameter.mark,
                     fmt::format("'{}': names with gantry_ are reserved", name));
    }
    if (!seen.insert(name).second) {
      return fail_at(definition.file, parameter.mark,
                     fmt::format("parameter '{}' is defined twice", name));
    }
    TRY(check_values(parameter, definition.file));
  }
  seen.clear();
  for (const auto& variable : definition.environment) {
    const auto& name = variable.name;
    if (!is_parameter_name(name)) {
      return fail_at(definition.file, variable.mark,
                     fmt::format("'{}' cannot be a variable's name", name),
                     "a name has letters, digits and '_' and does not begin with a digit");
    }
    if (name.starts_with("GANTRY_")) {
      return fail_at(definition.file, variable.mark,
                     fmt::format("'{}': names with GANTRY_ are reserved", name));
    }
    if (!seen.insert(name).second) {
      return fail_at(definition.file, variable.mark,
                     fmt::format("variable '{}' is defined twice", name));
    }
  }
  return {};
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
  if (definition.command.empty()) return fail_at(definition.file, {}, "the command is empty");
  if (definition.shell) {
    TRY(check_text(definition.command[0], definition.file));
    TRY_ASSIGN(auto script,
               TextTemplate::parse_shell(definition.command[0], slot_names, definition.file));
    for (const auto* word : {"/bin/sh", "-c"}) {
      TRY_ASSIGN(argv.emplace_back(),
                 TextTemplate::parse({word, {}, false}, slot_names, definition.file));
    }
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
  return {};
}

Result<> Sweep::Impl::check_lengths() {
  std::vector<std::size_t> longest;
  for (const auto& parameter : definition.parameters) longest.push_back(parameter.values.longest());
  longest.resize(values.size(), std::max<std::size_t>(definition.base_dir.size(), 10));
  std::string text;
  const auto check = [&](const TextTemplate& source, SourceMark mark,
                         std::string_view what) -> Result<> {
    if (source.longest(longest) <= kMaxArgument) return {};
    // The bound may never be reached: look at what there really is.
    std::uint32_t bad = 0;
    space.for_each_choice(source.slots(), [&](std::uint32_t index) {
      select(index + 1);
      text.clear();
      source.append_to(text, values);
      if (text.size() > kMaxArgument) bad = index + 1;
      return bad == 0;
    });
    if (bad == 0) return {};
    return fail_at(definition.file, mark,
                   fmt::format("{} of task {} would be {} bytes long; Linux passes at most {}",
                               what, bad, text.size(), kMaxArgument),
                   "put long values into a file and pass the file's name");
  };
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const auto& source = definition.shell ? definition.command[0] : definition.command[i];
    TRY(check(argv[i], source.mark, "an argument"));
  }
  for (std::size_t e = 0; e < environment.size(); ++e) {
    TRY(check(environment[e], definition.environment[e].mark,
              "the variable '" + definition.environment[e].name + "'"));
  }
  return {};
}

Result<> Sweep::Impl::check_outputs() {
  struct Seen {
    std::uint64_t hash;
    std::uint32_t task;
    std::uint32_t output;
  };
  if (outputs.empty()) return {};
  std::vector<Seen> seen;
  seen.reserve(static_cast<std::size_t>(size()) * outputs.size());
  std::string directory;
  std::string path;
  for (std::uint32_t number = 1; number <= size(); ++number) {
    select(number);
    render_workdir(directory);
    for (std::uint32_t o = 0; o < outputs.size(); ++o) {
      render_path(outputs[o], directory, path);
      seen.push_back({hash_bytes(path).low, number, o});
    }
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
    return std::tie(a.hash, a.task, a.output) < std::tie(b.hash, b.task, b.output);
  });
  const auto twin = std::adjacent_find(
      seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.hash == b.hash; });
  if (twin == seen.end()) return {};
  select(twin->task);
  render_workdir(directory);
  render_path(outputs[twin->output], directory, path);
  const auto& mark = definition.outputs[(twin + 1)->output].mark;
  if (twin->task == (twin + 1)->task) {
    return fail_at(definition.file, mark, fmt::format("the output {} is named twice", path));
  }
  return fail_at(
      definition.file, mark,
      fmt::format("tasks {} and {} would both write {}", twin->task, (twin + 1)->task, path),
      "put every parameter that varies into the name, or {#}, the task's number");
}

Digest Sweep::Impl::compute_digest() const {
  Hasher hasher;
  const auto add_all = [&](const std::vector<SourceText>& texts) {
    hasher.add(texts.size());
    for (const auto& text : texts) hasher.add(text.text);
  };
  hasher.add("sweep 1").add(definition.name).add(definition.base_dir).add(definition.shell ? 1 : 0);
  add_all(definition.command);
  hasher.add(definition.parameters.size());
  for (const auto& parameter : definition.parameters) {
    hasher.add(parameter.name).add(parameter.link);
    parameter.values.add_to(hasher);
  }
  hasher.add(definition.sample ? 1 : 0);
  if (const auto& sample = definition.sample) {
    hasher.add(static_cast<std::uint64_t>(sample->method)).add(sample->points).add(sample->seed);
    hasher.add(sample->parameters.size());
    for (const auto& name : sample->parameters) hasher.add(name);
  }
  hasher.add(definition.environment.size());
  for (const auto& variable : definition.environment)
    hasher.add(variable.name).add(variable.text.text);
  hasher.add(definition.workdir.text);
  add_all(definition.inputs);
  add_all(definition.outputs);
  return hasher.digest();
}

Result<> Sweep::check_inputs() const {
  Impl& impl = *impl_;
  std::string path;
  for (std::size_t i = 0; i < impl.inputs.size(); ++i) {
    const auto& input = impl.inputs[i];
    std::uint32_t bad = 0;
    impl.space.for_each_choice(input.slots(), [&](std::uint32_t index) {
      impl.select(index + 1);
      impl.render_path(input, impl.definition.base_dir, path);
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0) bad = index + 1;
      return bad == 0;
    });
    if (bad == 0) continue;
    return fail_at(impl.definition.file, impl.definition.inputs[i].mark,
                   fmt::format("the input {} of task {} is not there", path, bad),
                   "paths are relative to " + impl.definition.base_dir);
  }
  return {};
}

std::vector<std::string> Sweep::unused_parameters() const {
  std::vector<bool> used(impl_->values.size(), false);
  const auto mark = [&](const TextTemplate& text) {
    for (const auto slot : text.slots()) used[slot] = true;
  };
  for (const auto* list : {&impl_->argv, &impl_->environment, &impl_->inputs, &impl_->outputs}) {
    for (const auto& text : *list) mark(text);
  }
  mark(impl_->workdir);
  std::vector<std::string> names;
  for (std::size_t p = 0; p < impl_->parameter_count(); ++p) {
    if (!used[p]) names.push_back(impl_->definition.parameters[p].name);
  }
  return names;
}

}  // namespace gantry
