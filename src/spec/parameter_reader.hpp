#pragma once
/// `parameters:` of a sweep file -> definitions. Reads the files that globs, lines: and csv: name;
/// columns of the same CSV file are linked row by row. Lives during one parse.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/csv.hpp"
#include "model/sweep_definition.hpp"
#include "spec/data_files.hpp"
#include "spec/node_reader.hpp"

namespace gantry::spec {

/// The values of a file's lines; the last newline ends a line, it does not begin one.
std::vector<std::string> split_lines(std::string_view text);

class ParameterReader {
 public:
  /// Both references must outlive this.
  ParameterReader(const NodeReader& reader, std::filesystem::path base_dir, DataFiles& data)
      : reader_(reader), base_dir_(std::move(base_dir)), data_(data) {}

  Result<std::vector<ParameterDefinition>> read(const YamlNode& node);

 private:
  struct LinkedCsv {
    CsvTable table;
    std::uint32_t link;
  };
  Result<ParameterDefinition> parameter(const SourceText& name, const YamlNode& node);
  Result<ParameterValues> scalar(const YamlNode& node);
  Result<ParameterValues> list(const YamlNode& node, std::string_view name);
  Result<ParameterValues> rule(const YamlNode& node, std::string_view name, std::uint32_t& link);
  Result<ParameterValues> stepped(const YamlNode& node);
  Result<ParameterValues> bounds(const std::string& kind, const YamlNode& node);
  Result<ParameterValues> glob(const YamlNode& node);
  Result<ParameterValues> lines(const YamlNode& node);
  Result<ParameterValues> csv(const YamlNode& rule, const YamlNode& node, std::string_view name,
                              std::uint32_t& link);
  Result<LinkedCsv*> table(const SourceText& file);
  [[nodiscard]] std::filesystem::path resolve(const std::string& path) const {
    return base_dir_ / path;
  }
  /// The model's complaint about values, with the place in the file.
  [[nodiscard]] Result<ParameterValues> placed(Result<ParameterValues> values,
                                               SourceMark mark) const;

  const NodeReader& reader_;
  std::filesystem::path base_dir_;
  DataFiles& data_;
  std::map<std::string, LinkedCsv> tables_;
  std::uint64_t listed_ = 0;  ///< values that ranges inside lists became, of all parameters
};

}  // namespace gantry::spec
