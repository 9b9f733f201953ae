#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "model/decimal.hpp"
#include "model/quantity.hpp"
#include "model/sweep_impl.hpp"

namespace gantry {

namespace {

// Checks before the start look at so many tasks or outputs at most: the start must not take
// minutes, nor finding outputs that meet all memory. What lies beyond fails on its own, task by
// task.
constexpr std::uint32_t kMaxChecked = 20'000'000;
constexpr double kMaxCores = 1'000'000;

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

/// Names of one kind: well formed, not reserved, each once.
class NameCheck {
 public:
  NameCheck(const std::string& file, std::string_view what, std::string_view reserved)
      : file_(file), what_(what), reserved_(reserved) {}

  Result<> add(const std::string& name, SourceMark mark) {
    if (!is_parameter_name(name) || name.size() > kLongest) {
      return fail_at(file_, mark,
                     fmt::format("'{}' cannot be a {}'s name", name.substr(0, kLongest), what_),
                     "a name has letters, digits and '_' and does not begin with a digit");
    }
    if (name.starts_with(reserved_)) {
      return fail_at(file_, mark, fmt::format("'{}': names with {} are reserved", name, reserved_));
    }
    if (!seen_.insert(name).second)
      return fail_at(file_, mark, fmt::format("'{}' is defined twice", name));
    return {};
  }

 private:
  static constexpr std::size_t kLongest = 200;
  const std::string& file_;
  std::string_view what_;
  std::string_view reserved_;
  std::set<std::string> seen_;
};

}  // namespace

Result<> Sweep::Impl::check_names() const {
  NameCheck parameters(definition.file, "parameter", "gantry_");
  for (const auto& parameter : definition.parameters) {
    TRY(parameters.add(parameter.name, parameter.mark));
    TRY(check_values(parameter, definition.file));
  }
  // Derived values and results stand beside the parameters in tables: one name, one column.
  for (const auto& value : definition.derived) TRY(parameters.add(value.name, value.mark));
  for (const auto& rule : definition.results) TRY(parameters.add(rule.name, rule.mark));
  NameCheck variables(definition.file, "variable", "GANTRY_");
  for (const auto& variable : definition.environment)
    TRY(variables.add(variable.name, variable.mark));
  return {};
}

void Sweep::Impl::for_each_choice(const std::vector<std::uint32_t>& slots,
                                  const std::function<bool(std::uint32_t)>& visit) {
  std::vector<std::uint32_t> used;
  const bool as_built = numbers.size() == 1 && numbers.front().first == 1 &&
                        numbers.front().points == PointRange{0, size()};
  bool all = filtered || !as_built;
  for (const auto slot : slots) {
    if (slot < parameter_count()) used.push_back(slot);
    all = all || slot == task_slot;
    if (slot < parameter_count() || slot >= task_slot) continue;
    for (std::uint32_t p = 0; p < parameter_count(); ++p) {
      if (expressions->uses(p)) used.push_back(p);  // a derived value may depend on it
    }
  }
  std::uint32_t visits = 0;
  const auto limited = [&](std::uint32_t number) {
    return ++visits <= kMaxChecked && visit(number);
  };
  if (!all) {
    space.for_each_choice(used,
                          [&](std::uint32_t combination) { return limited(combination + 1); });
    return;
  }
  for (const auto& [first, points] : numbers)
    for (std::uint32_t i = 0; i < points.count; ++i)
      if (!limited(first + i)) return;
}

Result<Resources> Sweep::Impl::render_resources() {
  Resources amounts = definition.resources;
  const auto render = [&](const TextTemplate& source) -> const std::string& {
    text.clear();
    source.append_to(text, values);
    return text;
  };
  if (cores) {
    const auto n = parse_number(render(*cores));
    if (!n || *n < 1 || *n > kMaxCores || *n != std::floor(*n)) {
      return fail_at(definition.file, definition.varying.cores->mark,
                     fmt::format("'cores' of task {} would be '{}'; it must be a whole number",
                                 selected, text));
    }
    amounts.cores = static_cast<std::uint32_t>(*n);
  }
  if (memory) {
    amounts.learn_memory = render(*memory) == kLearn;
    const auto bytes = amounts.learn_memory ? 0 : parse_memory(text);
    if (!bytes) {
      return fail_at(
          definition.file, definition.varying.memory->mark,
          fmt::format("'memory' of task {} would be '{}'; it must be an amount like 2 GiB, or '{}'",
                      selected, text, kLearn));
    }
    amounts.memory = *bytes;
  }
  if (walltime) {
    const auto time = parse_duration(render(*walltime));
    if (!time) {
      return fail_at(
          definition.file, definition.varying.walltime->mark,
          fmt::format("'walltime' of task {} would be '{}'; it must be a time like 1h30m", selected,
                      text));
    }
    amounts.walltime = *time;
  }
  return amounts;
}

Result<Duration> Sweep::Impl::render_timeout() {
  if (!timeout) return definition.timeout;
  text.clear();
  timeout->append_to(text, values);
  if (const auto time = parse_duration(text)) return *time;
  return fail_at(definition.file, definition.varying.timeout->mark,
                 fmt::format("'timeout' of task {} would be '{}'; it must be a time like 90s",
                             selected, text));
}

Result<> Sweep::Impl::check_resources() {
  std::vector<std::uint32_t> slots;
  for (const auto* source : {&cores, &memory, &walltime, &timeout}) {
    if (!*source) continue;
    const auto more = (*source)->slots();
    slots.insert(slots.end(), more.begin(), more.end());
  }
  if (slots.empty()) return {};
  Result<> status;
  for_each_choice(slots, [&](std::uint32_t number) {
    select(number);
    const auto amounts = render_resources();
    if (!amounts) status = tl::unexpected<Error>(amounts.error());
    learns_varying = learns_varying || (amounts && amounts->learn_memory);
    if (const auto limit = render_timeout(); status && !limit)
      status = tl::unexpected<Error>(limit.error());
    return status.has_value();
  });
  return status;
}

Result<> Sweep::Impl::check_lengths() {
  std::vector<std::size_t> longest;
  for (const auto& parameter : definition.parameters) longest.push_back(parameter.values.longest());
  longest.resize(values.size(), std::max<std::size_t>(definition.base_dir.size(), kMaxDecimalText));
  const auto check = [&](const TextTemplate& source, SourceMark mark,
                         std::string_view what) -> Result<> {
    if (source.longest(longest) <= kMaxArgument) return {};
    // The bound may never be reached: look at what there really is.
    std::uint32_t bad = 0;
    for_each_choice(source.slots(), [&](std::uint32_t number) {
      select(number);
      text.clear();
      source.append_to(text, values);
      if (text.size() > kMaxArgument) bad = number;
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
    const auto& variable = definition.environment[e];
    TRY(check(environment[e], variable.mark, "the variable '" + variable.name + "'"));
  }
  return {};
}

std::vector<Sweep::Impl::Written> Sweep::Impl::written_files() const {
  std::vector<Written> files;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    files.push_back({&outputs[o], &definition.outputs[o], false});
  for (std::size_t r = 0; r < result_files.size(); ++r) {
    const SourceText& source = definition.results[r].file;
    // Several values may come from one file, and it may be an output as well.
    const bool known = std::any_of(files.begin(), files.end(), [&](const Written& file) {
      return file.source->text == source.text;
    });
    if (!source.text.empty() && !known) files.push_back({&result_files[r], &source, true});
  }
  return files;
}

/// Proves it from the templates alone, so that a million tasks need not be looked at one by one.
bool Sweep::Impl::surely_differ(const std::vector<Written>& files) const {
  std::vector<std::string> tails;
  for (const auto& file : files) {
    const std::string& name = file.source->text;
    const std::string whole = name.starts_with('/') ? name : definition.workdir.text + "/" + name;
    const auto path = TextTemplate::parse({whole, {}, false}, slot_names, definition.file);
    if (!path) return false;
    std::vector<std::uint32_t> slots = path->slots();
    const bool numbered = std::find(slots.begin(), slots.end(), task_slot) != slots.end();
    const bool apart = path->tells_values_apart([&](std::uint32_t slot, char c) {
      if (slot < parameter_count()) return definition.parameters[slot].values.may_contain(c);
      return slot != task_slot || (c >= '0' && c <= '9');
    });
    if (!apart) return false;
    std::erase_if(slots, [&](std::uint32_t slot) {
      return slot >= parameter_count() || !definition.parameters[slot].values.distinct();
    });
    if (!numbered && !space.determined_by(slots)) return false;
    tails.push_back(path->tail());
  }
  for (std::size_t a = 0; a < tails.size(); ++a) {
    for (std::size_t b = 0; b < tails.size(); ++b) {
      if (a != b && tails[a].ends_with(tails[b])) return false;
    }
  }
  return true;
}

/// Of the selected task.
bool Sweep::Impl::is_input(const std::string& path) const {
  std::string input;
  return std::any_of(inputs.begin(), inputs.end(), [&](const TextTemplate& source) {
    render_path(source, definition.base_dir, input);
    return input == path;
  });
}

Result<> Sweep::Impl::check_written_files() {
  struct Seen {
    std::uint64_t hash;
    std::uint32_t task;
    std::uint32_t file;
  };
  const auto files = written_files();
  const std::uint64_t count = static_cast<std::uint64_t>(size()) * files.size();
  if (count <= 1 || count > kMaxChecked || surely_differ(files)) return {};
  std::vector<Seen> seen;
  seen.reserve(count);
  std::string directory;
  std::string path;
  for (std::uint32_t number = 1; number <= size(); ++number) {
    select(number);
    render_workdir(directory);
    for (std::uint32_t f = 0; f < files.size(); ++f) {
      render_path(*files[f].path, directory, path);
      // A table that every task only reads may hold a value for all of them.
      if (files[f].is_result && is_input(path)) continue;
      seen.push_back({hash_bytes(path).low, number, f});
    }
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
    return std::tie(a.hash, a.task, a.file) < std::tie(b.hash, b.task, b.file);
  });
  // Of several twins the one with the lowest number is named.
  const Seen* first = nullptr;
  const Seen* second = nullptr;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    const bool twin = seen[i].hash == seen[i - 1].hash;
    const bool own_result = seen[i].task == seen[i - 1].task && files[seen[i].file].is_result;
    if (!twin || own_result || (first != nullptr && seen[i - 1].task >= first->task)) continue;
    first = &seen[i - 1];
    second = &seen[i];
  }
  if (first == nullptr) return {};
  select(first->task);
  render_workdir(directory);
  render_path(*files[first->file].path, directory, path);
  const auto& mark = files[second->file].source->mark;
  if (first->task == second->task)
    return fail_at(definition.file, mark, fmt::format("the output {} is named twice", path));
  return fail_at(
      definition.file, mark,
      fmt::format("tasks {} and {} would both write {}", first->task, second->task, path),
      files[second->file].is_result
          ? "put every parameter that varies into the name, or {#}, the task's number, or give "
            "each "
            "task a 'workdir:' of its own; a file that tasks only read belongs in 'inputs:' too"
          : "put every parameter that varies into the name, or {#}, the task's number");
}

Result<> Sweep::check_inputs() const {
  Impl& impl = *impl_;
  std::string path;
  for (std::size_t i = 0; i < impl.inputs.size(); ++i) {
    const auto& input = impl.inputs[i];
    std::uint32_t bad = 0;
    impl.for_each_choice(input.slots(), [&](std::uint32_t number) {
      impl.select(number);
      impl.render_path(input, impl.definition.base_dir, path);
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0) bad = number;
      return bad == 0;
    });
    if (bad == 0) continue;
    return fail_at(impl.definition.file, impl.definition.inputs[i].mark,
                   fmt::format("the input {} of task {} is not there", path, bad),
                   "paths are relative to " + impl.definition.base_dir);
  }
  return {};
}

void Sweep::Impl::for_each_template(const std::function<void(const TextTemplate&)>& visit) const {
  for (const auto* list : {&argv, &environment, &inputs, &outputs, &result_files}) {
    for (const auto& source : *list) visit(source);
  }
  visit(workdir);
  for (const auto* source : {&cores, &memory, &walltime, &timeout}) {
    if (*source) visit(**source);
  }
}

std::vector<std::string> Sweep::unused_parameters() const {
  std::vector<bool> used(impl_->values.size(), false);
  impl_->for_each_template([&](const TextTemplate& source) {
    for (const auto slot : source.slots()) used[slot] = true;
  });
  std::vector<std::string> names;
  for (std::uint32_t p = 0; p < impl_->binding_count(); ++p) {
    const bool in_expression = impl_->expressions && impl_->expressions->uses(p);
    if (!used[p] && !in_expression) names.push_back(impl_->binding_name(p));
  }
  return names;
}

}  // namespace gantry
