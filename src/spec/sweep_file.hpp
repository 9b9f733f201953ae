#pragma once
/// A sweep file's YAML -> SweepDefinition: knows its keys. Lives during one parse.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/sweep_definition.hpp"
#include "spec/data_files.hpp"
#include "spec/node_reader.hpp"

namespace gantry::spec {

inline constexpr std::uint32_t kMaxRetries = 1'000'000;

class SweepFileReader {
 public:
  /// `data` must outlive this.
  SweepFileReader(std::string file, std::filesystem::path base_dir, DataFiles& data)
      : reader_(std::move(file)), base_dir_(std::move(base_dir)), data_(data) {}

  Result<SweepDefinition> read(const YamlNode& root);

 private:
  /// Reads the value of one key.
  using ReadPart = Result<> (SweepFileReader::*)(const YamlNode&);
  Result<> read_part(const YamlNode& root, std::string_view key, ReadPart part);

  Result<> command(const YamlNode& node);
  Result<> parameters(const YamlNode& node);
  Result<> combine(const YamlNode& node);
  Result<> sample(const YamlNode& node);
  Result<> derived(const YamlNode& node);
  Result<> environment(const YamlNode& node);
  Result<> outputs(const YamlNode& node);
  Result<SourceText> output(const YamlNode& node, bool& stays);
  Result<> resources(const YamlNode& node);
  Result<> learnt_or_fixed(const YamlNode& memory, Resources& to);
  Result<> retries(const YamlNode& node);
  Result<> timeout(const YamlNode& node);
  Result<> checkpoint(const YamlNode& node);

  Result<> split_command(const SourceText& source);
  Result<> zip(const YamlNode& names, std::uint32_t link);
  Result<ParameterDefinition*> find_parameter(const YamlNode& name);

  NodeReader reader_;
  std::filesystem::path base_dir_;
  DataFiles& data_;
  SweepDefinition definition_;
};

}  // namespace gantry::spec
