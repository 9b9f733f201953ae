#pragma once
/// Results as a table, CSV or JSON Lines: parameters first, then values. Rows stream.

#include <functional>
#include <memory>
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
  virtual ~ResultWriter() = default;
  virtual void add(const store::TaskRow& row) = 0;
  virtual void finish() = 0;
};

/// `with_state` adds the task's state, for lists with failed tasks. Writes through `sink`, which
/// gets whole lines without their end. `run` must outlive the writer.
std::unique_ptr<ResultWriter> make_result_writer(ResultFormat format, const store::RunRecord& run,
                                                 bool with_state, const TableStyle& style,
                                                 const Table::Sink& sink);

}  // namespace gantry::cli
