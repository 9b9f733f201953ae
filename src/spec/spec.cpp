#include "spec/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/fd.hpp"
#include "spec/one_liner.hpp"
#include "spec/shell_warning.hpp"
#include "spec/sweep_file.hpp"
#include "spec/yaml_tree.hpp"

namespace gantry::spec {

namespace {

/// What the command reads from its environment, and derived values, which stand in the table of
/// results.
std::vector<std::string> used_otherwise(const SweepDefinition& definition) {
  std::vector<std::string> names;
  for (const auto& derived : definition.derived) names.push_back(derived.name);
  for (const auto& parameter : definition.parameters)
    for (const auto& word : definition.command)
      if (reads_variable(word.text, parameter.name)) names.push_back(parameter.name);
  return names;
}

Result<LoadedSweep> finish(SweepDefinition definition, SpecSource source) {
  std::vector<std::string> warnings = shell_warnings(definition);
  const auto otherwise = used_otherwise(definition);
  TRY_ASSIGN(auto sweep, Sweep::build(std::move(definition)));
  for (const auto& name : sweep.unused_parameters()) {
    if (std::ranges::find(otherwise, name) != otherwise.end()) continue;
    warnings.push_back(fmt::format(
        "parameter '{0}' is not used in the command; tasks see it as $GANTRY_PARAM_{0}", name));
  }
  return LoadedSweep{std::move(sweep), std::move(source), std::move(warnings)};
}

Result<std::filesystem::path> whole_path(const std::filesystem::path& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  if (error) return fail(ErrorCode::io, fmt::format("{}: {}", path.string(), error.message()));
  auto normal = result.lexically_normal();
  if (!normal.has_filename() && normal.has_relative_path())
    normal = normal.parent_path();  // "/a/b/" is "/a/b"
  return normal;
}

Result<LoadedSweep> build_from_file(std::string_view text, const std::string& file_name,
                                    const std::filesystem::path& base_dir, DataFiles data) {
  TRY_ASSIGN(const auto base, whole_path(base_dir));
  TRY_ASSIGN(const auto root, parse_yaml(text, file_name));
  TRY_ASSIGN(auto definition, SweepFileReader(file_name, base, data).read(root));
  SpecSource source;
  source.path = file_name;
  source.text = std::string(text);
  source.base_dir = base.string();
  source.data = std::move(data).take();
  return finish(std::move(definition), std::move(source));
}

Result<LoadedSweep> build_from_words(const std::vector<std::string>& args,
                                     const std::filesystem::path& base_dir,
                                     const ReadStdin& read_stdin) {
  TRY_ASSIGN(const auto base, whole_path(base_dir));
  TRY_ASSIGN(auto read, read_one_liner(args, base, read_stdin));
  SpecSource source;
  source.one_liner = true;
  source.args = std::move(read.args);
  source.base_dir = base.string();
  auto warnings = shell_word_warnings(read.definition);
  std::ranges::move(read.warnings, std::back_inserter(warnings));
  TRY_ASSIGN(auto loaded, finish(std::move(read.definition), std::move(source)));
  loaded.warnings.insert(loaded.warnings.begin(), warnings.begin(), warnings.end());
  return loaded;
}

}  // namespace

Result<LoadedSweep> load_sweep(const std::filesystem::path& path) {
  auto text = read_file(path, kMaxYamlBytes);
  if (!text) {
    std::error_code ignored;
    const bool missing = !std::filesystem::exists(path, ignored);
    return fail(ErrorCode::usage, text.error().message,
                missing ? "give the path of a sweep file, or a command with ::: and values" : "");
  }
  TRY_ASSIGN(const auto whole, whole_path(path));
  TRY_ASSIGN(auto loaded, parse_sweep(*text, path.string(), whole.parent_path()));
  loaded.source.path = whole.string();
  return loaded;
}

Result<LoadedSweep> parse_sweep(std::string_view text, const std::string& file_name,
                                const std::filesystem::path& base_dir) {
  TRY_ASSIGN(auto loaded, build_from_file(text, file_name, base_dir, DataFiles()));
  TRY(loaded.sweep.check_inputs());
  return loaded;
}

Result<LoadedSweep> parse_one_liner(const std::vector<std::string>& args,
                                    const std::filesystem::path& base_dir,
                                    const ReadStdin& read_stdin) {
  TRY_ASSIGN(auto loaded, build_from_words(args, base_dir, read_stdin));
  TRY(loaded.sweep.check_inputs());
  return loaded;
}

Result<LoadedSweep> reload(const SpecSource& source) {
  if (source.one_liner) return build_from_words(source.args, source.base_dir, {});
  return build_from_file(source.text, source.path, source.base_dir, DataFiles(source.data));
}

}  // namespace gantry::spec
