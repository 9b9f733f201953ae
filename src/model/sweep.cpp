#include "model/sweep.hpp"

#include <algorithm>
#include <charconv>

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
  base_slot = count + 1;
  slot_names.add("#", task_slot);
  slot_names.add("gantry_task", task_slot);
  slot_names.add("gantry_dir", base_slot);
  positions.resize(count);
  wanted.resize(count);
  buffers.resize(count + 1);
  values.resize(count + 2);
  values[base_slot] = definition.base_dir;
}

void Sweep::Impl::select(std::uint32_t number) {
  if (selected == number) return;
  space.locate(number - 1, wanted);
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    // Neighbouring tasks share most values: render only what moved.
    if (selected != 0 && wanted[p] == positions[p]) continue;
    positions[p] = wanted[p];
    values[p] = definition.parameters[p].values.text(wanted[p], buffers[p]);
  }
  auto& text = buffers[task_slot];
  text.resize(10);
  text.resize(static_cast<std::size_t>(std::to_chars(text.data(), text.data() + 10, number).ptr -
                                       text.data()));
  values[task_slot] = text;
  selected = number;
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
std::uint32_t Sweep::size() const {
  return impl_->size();
}
const RetryPolicy& Sweep::retry_policy() const {
  return impl_->definition.retry;
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

  task.parameters.resize(impl.parameter_count());
  for (std::size_t p = 0; p < task.parameters.size(); ++p) {
    assign(task.parameters[p], definition.parameters[p].name, impl.values[p]);
  }
  task.environment.resize(impl.environment.size());
  for (std::size_t e = 0; e < task.environment.size(); ++e) {
    assign(task.environment[e], definition.environment[e].name, {});
    impl.environment[e].append_to(task.environment[e].second, impl.values);
  }
  resize(task.inputs, impl.inputs.size());
  for (std::size_t i = 0; i < impl.inputs.size(); ++i) {
    impl.render_path(impl.inputs[i], definition.base_dir, task.inputs[i]);
  }
  resize(task.outputs, impl.outputs.size());
  for (std::size_t i = 0; i < impl.outputs.size(); ++i) {
    impl.render_path(impl.outputs[i], task.workdir, task.outputs[i]);
  }
  task.resources = definition.resources;
  task.timeout = definition.timeout;
}

std::vector<Binding> Sweep::parameters(TaskId id) const {
  impl_->select(id.value());
  std::vector<Binding> result;
  result.reserve(impl_->parameter_count());
  for (std::size_t p = 0; p < impl_->parameter_count(); ++p) {
    result.emplace_back(impl_->definition.parameters[p].name, impl_->values[p]);
  }
  return result;
}

double Sweep::cost(TaskId) const {
  return 1;
}
bool Sweep::has_cost() const {
  return false;
}
Resources Sweep::resources(TaskId) const {
  return impl_->definition.resources;
}

std::vector<std::string> Sweep::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : impl_->definition.parameters) names.push_back(parameter.name);
  return names;
}

std::vector<std::string> Sweep::result_names() const {
  return {};
}
Result<ResultValues> Sweep::extract(const AttemptReport&, std::string_view) const {
  return ResultValues{};
}
bool Sweep::reads_stdout() const {
  return false;
}

}  // namespace gantry
