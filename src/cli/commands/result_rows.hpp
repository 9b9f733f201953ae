#pragma once
/// Results as a table, CSV or JSON Lines: parameters first, then values. Rows stream.

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/table.hpp"
#include "store/store.hpp"

namespace gantry::cli {

enum class ResultFormat { table, csv, jsonl };

/// RFC 4180: quoted when it holds a comma, a quote or a line break.
void append_csv_field(std::string& out, std::string_view text);

class ResultWriter {
 public:
  /// `with_state` adds the task's state, for lists with failed tasks. Writes through `sink`, which
  /// gets whole lines without their end. `run` must outlive the writer.
  ResultWriter(ResultFormat format, const store::RunRecord& run, bool with_state,
               const TableStyle& style, Table::Sink sink);
  void add(const store::TaskRow& row);
  void finish() { table_.finish(); }

 private:
  void write_csv();
  void write_json(const store::TaskRow& row);

  ResultFormat format_;
  const store::RunRecord& run_;
  bool with_state_;
  Table::Sink sink_;
  Table table_;                      ///< has no rows in other formats
  std::vector<std::string> fields_;  ///< one a column; kept to spare allocations
  std::string line_;
};

}  // namespace gantry::cli
