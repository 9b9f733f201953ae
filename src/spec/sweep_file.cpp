#include "spec/sweep_file.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/parameter_space.hpp"
#include "model/quantity.hpp"
#include "model/shell_words.hpp"
#include "model/suggest.hpp"
#include "model/template.hpp"
#include "spec/parameter_reader.hpp"
#include "spec/result_reader.hpp"

namespace gantry::spec {

namespace {

constexpr std::uint64_t kMaxCores = 1'000'000;

constexpr std::array<std::string_view, 19> kSweepKeys{
    "name",    "description", "shell",   "command",     "parameters", "combine", "sample",
    "when",    "derived",     "cost",    "environment", "workdir",    "inputs",  "outputs",
    "results", "resources",   "retries", "timeout",     "checkpoint"};

/// An amount with placeholders is a template, read for each task.
bool varies(const YamlNode& node, std::optional<SourceText>& source) {
  if (!node.is_scalar() || !has_placeholder(node.text())) return false;
  source = node.scalar;
  return true;
}

}  // namespace

Result<> SweepFileReader::read_part(const YamlNode& root, std::string_view key, ReadPart part) {
  const YamlNode* node = NodeReader::find(root, key);
  return node != nullptr ? (this->*part)(*node) : Result<>{};
}

Result<SweepDefinition> SweepFileReader::read(const YamlNode& root) {
  if (!root.is_map()) {
    return reader_.error(root.mark(), "a sweep file is a map of keys like command: and parameters:",
                         "see docs/formats/sweep.md for an example");
  }
  TRY(reader_.check_keys(root, kSweepKeys, "the sweep"));
  if (NodeReader::find(root, "command") == nullptr) {
    return reader_.error(root.mark(), "there is no 'command'",
                         "add command: ./program --option {parameter}");
  }
  definition_.file = reader_.file();
  definition_.base_dir = base_dir_.string();
  definition_.name = std::filesystem::path(reader_.file()).stem().string();
  std::string description;  // only people read it
  // `command` looks at `shell`, `combine` and `sample` at `parameters`.
  TRY(reader_.read(root, "name", definition_.name));
  TRY(reader_.read(root, "description", description));
  TRY(reader_.read(root, "shell", definition_.shell));
  TRY(read_part(root, "command", &SweepFileReader::command));
  TRY(read_part(root, "parameters", &SweepFileReader::parameters));
  TRY(read_part(root, "combine", &SweepFileReader::combine));
  TRY(read_part(root, "sample", &SweepFileReader::sample));
  TRY(reader_.read(root, "when", definition_.when));
  TRY(read_part(root, "derived", &SweepFileReader::derived));
  TRY(reader_.read(root, "cost", definition_.cost));
  TRY(read_part(root, "environment", &SweepFileReader::environment));
  TRY(reader_.read(root, "workdir", definition_.workdir));
  TRY(reader_.read(root, "inputs", definition_.inputs));
  TRY(read_part(root, "outputs", &SweepFileReader::outputs));
  if (const YamlNode* results = NodeReader::find(root, "results")) {
    TRY_ASSIGN(definition_.results, read_results(reader_, *results));
  }
  TRY(read_part(root, "resources", &SweepFileReader::resources));
  TRY(read_part(root, "retries", &SweepFileReader::retries));
  TRY(read_part(root, "timeout", &SweepFileReader::timeout));
  TRY(read_part(root, "checkpoint", &SweepFileReader::checkpoint));
  return std::move(definition_);
}

Result<> SweepFileReader::outputs(const YamlNode& node) {
  if (node.is_scalar()) {
    definition_.outputs = {node.scalar};
    return {};
  }
  if (!node.is_sequence()) return reader_.wrong_type(node, "outputs", "a list of files");
  for (const auto& item : node.items) {
    bool stays = false;
    TRY_ASSIGN(definition_.outputs.emplace_back(), output(item, stays));
    definition_.outputs_stay.push_back(stays);
  }
  return {};
}

/// A name, or `{ file: NAME, keep: remote }`.
Result<SourceText> SweepFileReader::output(const YamlNode& node, bool& stays) {
  constexpr std::array<std::string_view, 2> kKeys{"file", "keep"};
  if (node.is_scalar()) return node.scalar;
  const YamlNode* file = NodeReader::find(node, "file");
  if (file == nullptr)  // an unquoted {x} is a map, too
    return reader_.wrong_type(node, "outputs", "a name, or a map like {file: NAME, keep: remote}");
  TRY(reader_.check_keys(node, kKeys, "an output"));
  if (const YamlNode* keep = NodeReader::find(node, "keep")) {
    TRY_ASSIGN(const auto where, reader_.text(*keep, "keep"));
    if (where.text != "remote" && where.text != "home")
      return reader_.wrong_type(*keep, "keep", "'remote' or 'home'");
    stays = where.text == "remote";
  }
  return reader_.text(*file, "file");
}

Result<> SweepFileReader::derived(const YamlNode& node) {
  if (!node.is_map()) return reader_.wrong_type(node, "derived", "a map from names to expressions");
  for (const auto& [name, value] : node.entries) {
    TRY_ASSIGN(auto text, reader_.text(value, name.text));
    definition_.derived.push_back({name.text, std::move(text), name.mark});
  }
  return {};
}

Result<> SweepFileReader::command(const YamlNode& node) {
  if (node.is_scalar() && definition_.shell) {
    definition_.command = {node.scalar};
  } else if (node.is_scalar()) {
    TRY(split_command(node.scalar));
  } else if (node.is_sequence() && definition_.shell) {
    return reader_.error(node.mark(), "with shell: true the command is one text, not a list");
  } else {
    TRY_ASSIGN(definition_.command, reader_.texts(node, "command"));
  }
  if (definition_.command.empty() || definition_.command[0].text.empty()) {
    return reader_.error(node.mark(), "the command is empty");
  }
  return {};
}

Result<> SweepFileReader::split_command(const SourceText& source) {
  std::size_t error_offset = 0;
  auto words = split_shell_words(source.text, error_offset);
  if (!words) return reader_.error(source.at(error_offset), words.error().message);
  for (auto& word : *words) {
    definition_.command.push_back(
        {std::move(word.text), source.at(word.offset), source.exact && word.verbatim});
  }
  return {};
}

Result<> SweepFileReader::parameters(const YamlNode& node) {
  ParameterReader parameter_reader(reader_, base_dir_, data_);
  TRY_ASSIGN(definition_.parameters, parameter_reader.read(node));
  return {};
}

Result<ParameterDefinition*> SweepFileReader::find_parameter(const YamlNode& name) {
  TRY_ASSIGN(const auto text, reader_.text(name, "a parameter's name"));
  std::vector<std::string> known;
  for (auto& parameter : definition_.parameters) {
    if (parameter.name == text.text) return &parameter;
    known.push_back(parameter.name);
  }
  return reader_.error(text.mark, fmt::format("'{}' is not a parameter", text.text),
                       did_you_mean(text.text, known));
}

Result<> SweepFileReader::combine(const YamlNode& node) {
  if (node.is_scalar() && node.text() == "product") return {};
  if (node.is_scalar() && node.text() == "zip") {
    for (auto& parameter : definition_.parameters) parameter.link = 1;
    return {};
  }
  if (!node.is_sequence())
    return reader_.wrong_type(node, "combine", "product, zip, or a list of groups like [[a, b]]");
  std::uint32_t link = 0;
  for (const auto& group : node.items) {
    if (!group.is_sequence()) {
      TRY(find_parameter(
          group));  // a parameter alone is crossed with the rest, as without being named
      continue;
    }
    TRY(zip(group, ++link));
  }
  return {};
}

Result<> SweepFileReader::zip(const YamlNode& names, std::uint32_t link) {
  for (const auto& name : names.items) {
    TRY_ASSIGN(auto* const parameter, find_parameter(name));
    if (parameter->link != 0) {
      return reader_.error(name.mark(), fmt::format("'{}' is already linked with other parameters",
                                                    parameter->name));
    }
    parameter->link = link;
  }
  return {};
}

Result<> SweepFileReader::sample(const YamlNode& node) {
  constexpr std::array<std::string_view, 4> kSampleKeys{"method", "n", "seed", "parameters"};
  constexpr std::array<std::string_view, 3> kMethods{"random", "latin-hypercube", "sobol"};
  if (!node.is_map())
    return reader_.wrong_type(node, "sample", "a map like {method: sobol, n: 100}");
  TRY(reader_.check_keys(node, kSampleKeys, "sample"));
  SampleDefinition sample;
  sample.mark = node.mark();
  if (const YamlNode* method = NodeReader::find(node, "method")) {
    const auto found = std::find(kMethods.begin(), kMethods.end(), method->text());
    if (!method->is_scalar() || found == kMethods.end()) {
      return reader_.wrong_type(*method, "method", "random, latin-hypercube or sobol");
    }
    sample.method = static_cast<SampleMethod>(found - kMethods.begin());
  }
  const YamlNode* n = NodeReader::find(node, "n");
  if (n == nullptr) return reader_.error(node.mark(), "sample needs 'n', the number of points");
  TRY_ASSIGN(sample.points, reader_.count<std::uint32_t>(*n, "n", 1, kMaxTasks));
  TRY(reader_.read_count(node, "seed", sample.seed, 0, UINT64_MAX));
  if (const YamlNode* names = NodeReader::find(node, "parameters")) {
    if (!names->is_sequence()) return reader_.wrong_type(*names, "parameters", "a list of names");
    for (const auto& name : names->items) {
      TRY_ASSIGN(const auto* const parameter, find_parameter(name));
      sample.parameters.push_back(parameter->name);
    }
  }
  definition_.sample = std::move(sample);
  return {};
}

Result<> SweepFileReader::environment(const YamlNode& node) {
  if (!node.is_map()) return reader_.wrong_type(node, "environment", "a map from names to texts");
  for (const auto& [name, value] : node.entries) {
    SourceText text{"", value.mark(), false};
    if (value.kind != YamlNode::Kind::null) {
      TRY_ASSIGN(text, reader_.text(value, name.text));
    }
    definition_.environment.push_back({name.text, std::move(text), name.mark});
  }
  return {};
}

Result<> SweepFileReader::resources(const YamlNode& node) {
  constexpr std::array<std::string_view, 3> kResourceKeys{"cores", "memory", "walltime"};
  if (!node.is_map())
    return reader_.wrong_type(node, "resources", "a map like {cores: 2, memory: 1 GiB}");
  TRY(reader_.check_keys(node, kResourceKeys, "resources"));
  auto& fixed = definition_.resources;
  definition_.resources_mark = node.mark();
  auto& varying = definition_.varying;
  const YamlNode* cores = NodeReader::find(node, "cores");
  if (cores != nullptr && !varies(*cores, varying.cores)) {
    TRY_ASSIGN(fixed.cores, reader_.count<std::uint32_t>(*cores, "cores", 1, kMaxCores));
  }
  const YamlNode* memory = NodeReader::find(node, "memory");
  if (memory != nullptr && !varies(*memory, varying.memory)) {
    TRY(learnt_or_fixed(*memory, fixed));
  }
  const YamlNode* walltime = NodeReader::find(node, "walltime");
  if (walltime != nullptr && !varies(*walltime, varying.walltime)) {
    TRY_ASSIGN(fixed.walltime, reader_.duration(*walltime, "walltime"));
  }
  return {};
}

Result<> SweepFileReader::learnt_or_fixed(const YamlNode& memory, Resources& to) {
  to.learn_memory = memory.is_scalar() && memory.text() == kLearn;
  if (to.learn_memory) return {};
  const auto bytes = memory.is_scalar() ? parse_memory(memory.text()) : std::nullopt;
  if (!bytes) {
    Error error =
        reader_.wrong_type(memory, "memory", "an amount like 500MB or 2 GiB, or learn").value();
    if (memory.is_scalar()) error.hint = did_you_mean(memory.text(), std::array{kLearn});
    return tl::unexpected<Error>(std::move(error));
  }
  to.memory = *bytes;
  return {};
}

Result<> SweepFileReader::timeout(const YamlNode& node) {
  if (varies(node, definition_.varying.timeout)) return {};
  TRY_ASSIGN(definition_.timeout, reader_.duration(node, "timeout"));
  return {};
}

Result<> SweepFileReader::checkpoint(const YamlNode& node) {
  constexpr std::array<std::string_view, 2> kCheckpointKeys{"signal", "before"};
  constexpr std::array<std::pair<std::string_view, int>, 5> kSignals{
      {{"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}, {"HUP", SIGHUP}}};
  if (!node.is_map())
    return reader_.wrong_type(node, "checkpoint", "a map like {signal: USR1, before: 60s}");
  TRY(reader_.check_keys(node, kCheckpointKeys, "checkpoint"));
  const YamlNode* signal = NodeReader::find(node, "signal");
  if (signal == nullptr) return reader_.error(node.mark(), "checkpoint needs 'signal'");
  TRY_ASSIGN(const auto text, reader_.text(*signal, "signal"));
  const auto* const known =
      std::ranges::find(kSignals, text.text, &decltype(kSignals)::value_type::first);
  if (known == kSignals.end())
    return reader_.wrong_type(*signal, "signal", "'TERM', 'USR1', 'USR2', 'INT' or 'HUP'");
  definition_.checkpoint.signal = known->second;
  return reader_.read(node, "before", definition_.checkpoint.before);
}

Result<> SweepFileReader::retries(const YamlNode& node) {
  constexpr std::array<std::string_view, 4> kRetryKeys{"count", "backoff", "factor", "max"};
  auto& retry = definition_.retry;
  const YamlNode* count = &node;
  if (node.is_map()) {
    TRY(reader_.check_keys(node, kRetryKeys, "retries"));
    count = NodeReader::find(node, "count");
    if (count == nullptr) return reader_.error(node.mark(), "retries needs 'count'");
    TRY(reader_.read(node, "backoff", retry.backoff));
    TRY(reader_.read(node, "factor", retry.factor));
    if (!(retry.factor >= 1) || retry.factor > 1000)
      return reader_.wrong_type(*NodeReader::find(node, "factor"), "factor",
                                "a number from 1 to 1000");
    TRY(reader_.read(node, "max", retry.max_backoff));
  }
  TRY_ASSIGN(retry.retries, reader_.count<std::uint32_t>(*count, "retries", 0, kMaxRetries));
  return {};
}

}  // namespace gantry::spec
