#include "model/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "model/sweep_impl.hpp"

namespace gantry {

namespace {

/// Gives `list` n strings, keeping the memory of those it has.
void resize(std::vector<std::string>& list, std::size_t n) {
  list.resize(n);
  for (auto& text : list) text.clear();
}

void assign(Binding& binding, std::string_view name, std::string_view value) {
  binding.first.assign(name);
  binding.second.assign(value);
}

}  // namespace

Sweep::Impl::Impl(SweepDefinition d, ParameterSpace s)
    : definition(std::move(d)), space(std::move(s)) {
  const std::uint32_t count = parameter_count();
  for (std::uint32_t p = 0; p < count; ++p) {
    slot_names.add(definition.parameters[p].name, p);
    for (const auto& alias : definition.parameters[p].aliases) slot_names.add(alias, p);
  }
  task_slot = count;
  for (const auto& value : definition.derived) slot_names.add(value.name, task_slot++);
  base_slot = task_slot + 1;
  slot_names.add("#", task_slot);
  slot_names.add("gantry_task", task_slot);
  slot_names.add("gantry_dir", base_slot);
  positions.resize(count);
  wanted.resize(count);
  listed_numbers.resize(count);
  buffers.resize(base_slot);
  values.resize(base_slot + 1);
  values[base_slot] = definition.base_dir;
}

void Sweep::Impl::place(std::uint32_t combination) {
  space.locate(combination, wanted);
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    // Neighbouring tasks share most values: render only what moved.
    if (placed && wanted[p] == positions[p]) continue;
    positions[p] = wanted[p];
    const auto& source = definition.parameters[p].values;
    values[p] = source.text(wanted[p], buffers[p]);
    if (!expressions || !expressions->uses(p)) continue;
    if (!source.numeric()) {
      expressions->set_text(p, wanted[p].index);
    } else if (!listed_numbers[p].empty()) {
      expressions->set_number(p, listed_numbers[p][wanted[p].index]);
    } else {
      expressions->set_number(p, parse_number(values[p]).value_or(0));
    }
  }
  placed = true;
}

std::optional<std::uint32_t> Sweep::Impl::point_of(std::uint32_t number) {
  if (!looked_at.holds(number)) {
    const auto after = std::ranges::upper_bound(numbers, number, {}, &Numbered::first);
    if (after == numbers.begin() || !std::prev(after)->holds(number)) return std::nullopt;
    looked_at = *std::prev(after);
  }
  return looked_at.points.first + (number - looked_at.first);
}

void Sweep::Impl::select(std::uint32_t number) {
  if (selected == number) return;
  const std::uint32_t point = point_of(number).value_or(0);
  place(filtered ? kept[point] : point);
  for (std::size_t d = 0; d < derived.size(); ++d) {
    const std::size_t slot = parameter_count() + d;
    const double value = expressions->evaluate(derived[d]);
    expressions->set_number(slot, value);
    buffers[slot] = format_number(value);
    values[slot] = buffers[slot];
  }
  set_task_number(number);
  selected = number;
}

void Sweep::Impl::set_task_number(std::uint32_t number) {
  auto& digits = buffers[task_slot];
  digits.resize(10);
  const auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  digits.resize(static_cast<std::size_t>(end - digits.data()));
  values[task_slot] = digits;
}

void Sweep::Impl::render_path(const TextTemplate& path, std::string_view base,
                              std::string& out) const {
  out.clear();
  path.append_to(out, values);
  if (out.starts_with('/')) return;
  std::size_t skip = 0;
  while (std::string_view(out).substr(skip, 2) == "./") skip += 2;
  out.replace(0, skip, "/");
  out.insert(0, base);
}

void Sweep::Impl::render_workdir(std::string& out) const {
  if (definition.workdir.text.empty()) {
    out.assign(definition.base_dir);
  } else {
    render_path(workdir, definition.base_dir, out);
  }
}

std::vector<std::string> Sweep::Impl::render_result_files() const {
  std::vector<std::string> paths(result_files.size());
  std::string directory;
  render_workdir(directory);
  for (std::size_t r = 0; r < result_files.size(); ++r) {
    if (results.definitions()[r].source == ResultDefinition::Source::standard_output) continue;
    render_path(result_files[r], directory, paths[r]);
  }
  return paths;
}

Sweep::Sweep(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sweep::Sweep(Sweep&&) noexcept = default;
Sweep& Sweep::operator=(Sweep&&) noexcept = default;
Sweep::~Sweep() = default;

const std::string& Sweep::name() const {
  return impl_->definition.name;
}
Digest Sweep::digest() const {
  return impl_->digest;
}
Digest Sweep::study_digest() const {
  return impl_->study_digest;
}
std::uint32_t Sweep::size() const {
  return impl_->size();
}

void Sweep::clear_tasks() {
  impl_->numbers.clear();
  impl_->looked_at = {};
  impl_->selected = 0;
}

void Sweep::add_tasks(TaskId first, std::span<const PointRange> points) {
  std::uint32_t number = first.value();
  auto& numbers = impl_->numbers;
  for (const PointRange& range : points) {
    const auto* last = numbers.empty() ? nullptr : &numbers.back();
    const bool goes_on = last != nullptr && last->first + last->points.count == number &&
                         last->points.first + last->points.count == range.first;
    if (goes_on) {
      numbers.back().points.count += range.count;
    } else {
      numbers.push_back({number, range});
    }
    number += range.count;
  }
}

void Sweep::add_point(std::uint32_t point, Hasher& hasher) const {
  impl_->place(impl_->filtered ? impl_->kept[point] : point);
  impl_->selected = 0;
  for (std::uint32_t p = 0; p < impl_->parameter_count(); ++p) hasher.add(impl_->values[p]);
}

const RetryPolicy& Sweep::retry_policy() const {
  return impl_->definition.retry;
}

tl::unexpected<Error> Sweep::fail_at_resources(std::string_view message, std::string hint) const {
  return fail_at(impl_->definition.file, impl_->definition.resources_mark, message,
                 std::move(hint));
}

Task Sweep::task(TaskId id) const {
  Task task;
  fill_task(id, task);
  return task;
}

void Sweep::fill_task(TaskId id, Task& task) const {
  Impl& impl = *impl_;
  impl.select(id.value());
  const auto& definition = impl.definition;
  task.id = id;
  impl.render_workdir(task.workdir);
  task.make_workdir = !definition.workdir.text.empty();

  resize(task.argv, impl.argv.size());
  for (std::size_t i = 0; i < impl.argv.size(); ++i)
    impl.argv[i].append_to(task.argv[i], impl.values);
  if (impl.program_is_relative) impl.render_path(impl.argv[0], definition.base_dir, task.argv[0]);

  task.parameters.resize(impl.binding_count());
  for (std::uint32_t p = 0; p < impl.binding_count(); ++p) {
    assign(task.parameters[p], impl.binding_name(p), impl.values[p]);
  }
  task.environment.resize(impl.environment.size());
  for (std::size_t e = 0; e < task.environment.size(); ++e) {
    assign(task.environment[e], definition.environment[e].name, {});
    impl.environment[e].append_to(task.environment[e].second, impl.values);
  }
  fill_inputs(id, task.inputs);
  task.value_files.clear();
  for (std::uint32_t p = 0; definition.values_are_inputs && p < impl.parameter_count(); ++p) {
    if (definition.parameters[p].values.numeric() || impl.values[p].empty()) continue;
    auto& path = task.value_files.emplace_back();
    if (!impl.values[p].starts_with('/')) path.append(definition.base_dir).append("/");
    path.append(impl.values[p]);
  }
  resize(task.outputs, impl.outputs.size());
  for (std::size_t i = 0; i < impl.outputs.size(); ++i) {
    impl.render_path(impl.outputs[i], task.workdir, task.outputs[i]);
  }
  task.staying.clear();
  for (std::size_t i = 0; i < definition.outputs_stay.size(); ++i)
    if (definition.outputs_stay[i]) task.staying.push_back(task.outputs[i]);
  task.collect.clear();
  if (!impl.result_files.empty()) {
    for (auto& path : impl.render_result_files()) {
      const bool known =
          std::find(task.collect.begin(), task.collect.end(), path) != task.collect.end();
      if (!path.empty() && !known) task.collect.push_back(std::move(path));
    }
  }
  // Checked when the sweep was built: cannot fail any more.
  task.resources = impl.render_resources().value_or(definition.resources);
  task.timeout = impl.render_timeout().value_or(definition.timeout);
  task.checkpoint = definition.checkpoint;
}

void Sweep::fill_inputs(TaskId id, std::vector<std::string>& paths) const {
  impl_->select(id.value());
  paths.resize(impl_->inputs.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    impl_->render_path(impl_->inputs[i], impl_->definition.base_dir, paths[i]);
}

bool Sweep::same_inputs() const {
  return std::ranges::all_of(impl_->inputs, [&](const TextTemplate& input) {
    return std::ranges::all_of(input.slots(),
                               [&](std::uint32_t slot) { return slot == impl_->base_slot; });
  });
}

std::vector<Binding> Sweep::parameters(TaskId id) const {
  impl_->select(id.value());
  std::vector<Binding> result;
  result.reserve(impl_->binding_count());
  for (std::uint32_t p = 0; p < impl_->binding_count(); ++p) {
    result.emplace_back(impl_->binding_name(p), impl_->values[p]);
  }
  return result;
}

double Sweep::cost(TaskId id) const {
  if (!impl_->cost) return 1;
  impl_->select(id.value());
  return impl_->expressions->evaluate(*impl_->cost);
}

bool Sweep::has_cost() const {
  return impl_->cost.has_value();
}

Resources Sweep::resources(TaskId id) const {
  const bool varying = impl_->cores || impl_->memory || impl_->walltime;
  if (!varying) return impl_->definition.resources;
  impl_->select(id.value());
  return impl_->render_resources().value_or(impl_->definition.resources);
}

bool Sweep::learns_memory() const {
  return impl_->definition.resources.learn_memory || impl_->learns_varying;
}

std::vector<std::string> Sweep::parameter_names() const {
  std::vector<std::string> names;
  for (std::uint32_t p = 0; p < impl_->binding_count(); ++p)
    names.push_back(impl_->binding_name(p));
  return names;
}

std::vector<std::string> Sweep::result_names() const {
  std::vector<std::string> names;
  for (const auto& rule : impl_->results.definitions()) names.push_back(rule.name);
  return names;
}

std::vector<Digest> Sweep::result_rules() const {
  return impl_->results.rule_digests();
}

std::vector<bool> Sweep::optional_results() const {
  std::vector<bool> optional;
  for (const auto& rule : impl_->results.definitions()) optional.push_back(rule.optional);
  return optional;
}

std::vector<std::string> Sweep::result_files(TaskId id, TaskId numbered) const {
  impl_->select(id.value());
  impl_->set_task_number(numbered.value());
  auto files = impl_->render_result_files();
  impl_->set_task_number(id.value());
  return files;
}

Result<ResultValues> Sweep::extract(const AttemptReport& report, std::string_view whole_stdout,
                                    const ResultValues& known) const {
  const std::uint32_t number = report.key.task.value();
  if (impl_->result_files.empty()) return ResultValues{};
  if (!impl_->point_of(number))
    return fail(ErrorCode::usage, "a report of a task that is not in the sweep");
  impl_->select(number);
  return impl_->results.extract(whole_stdout, impl_->render_result_files(), report.collected, known,
                                report.out.truncated);
}

bool Sweep::reads_stdout() const {
  return impl_->results.reads_stdout();
}

}  // namespace gantry
