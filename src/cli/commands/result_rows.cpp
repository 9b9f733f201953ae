#include "cli/commands/result_rows.hpp"

#include "cli/terminal/json_line.hpp"
#include "query/result_values.hpp"
#include "query/task_list.hpp"

namespace gantry::cli {
namespace {

std::vector<std::string> headings(const store::RunRecord& run, bool with_state) {
  std::vector<std::string> names{"task"};
  if (with_state) names.emplace_back("state");
  const auto columns = query::column_names(run);
  names.insert(names.end(), columns.begin(), columns.end());
  return names;
}

class TableWriter final : public ResultWriter {
 public:
  TableWriter(const store::RunRecord& run, bool with_state, const TableStyle& style,
              const Table::Sink& sink)
      : run_(run), with_state_(with_state), table_(columns(run, with_state), style, sink) {}

  void add(const store::TaskRow& row) override {
    std::vector<Cell> cells{{std::to_string(row.task.value())}};
    if (with_state_) cells.emplace_back(std::string(to_string(query::state_of(&row))));
    query::for_each_value(run_, row, [&](const std::string& value) { cells.emplace_back(value); });
    table_.add(std::move(cells));
  }
  void finish() override { table_.finish(); }

 private:
  static std::vector<Column> columns(const store::RunRecord& run, bool with_state) {
    std::vector<Column> columns;
    for (auto& name : headings(run, with_state)) columns.push_back({std::move(name)});
    columns.front() = {"task", false, false, std::to_string(run.counts.total).size()};
    return columns;
  }
  const store::RunRecord& run_;
  bool with_state_;
  Table table_;
};

class CsvWriter final : public ResultWriter {
 public:
  CsvWriter(const store::RunRecord& run, bool with_state, Table::Sink sink)
      : run_(run), with_state_(with_state), sink_(std::move(sink)) {
    for (const auto& name : headings(run, with_state)) field(name);
    end_line();
  }
  void add(const store::TaskRow& row) override {
    field(std::to_string(row.task.value()));
    if (with_state_) field(to_string(query::state_of(&row)));
    query::for_each_value(run_, row, [&](const std::string& value) { field(value); });
    end_line();
  }
  void finish() override {}

 private:
  void field(std::string_view text) {
    if (!first_) line_ += ',';
    first_ = false;
    append_csv_field(line_, text);
  }
  void end_line() {
    sink_(line_);
    line_.clear();
    first_ = true;
  }
  const store::RunRecord& run_;
  bool with_state_;
  Table::Sink sink_;
  std::string line_;
  bool first_ = true;
};

class JsonWriter final : public ResultWriter {
 public:
  explicit JsonWriter(Table::Sink sink) : sink_(std::move(sink)) {}
  void add(const store::TaskRow& row) override {
    line_.clear();
    JsonLine(line_)
        .number("task", row.task.value())
        .text("state", to_string(query::state_of(&row)))
        .scalars("parameters", row.parameters)
        .scalars("results", row.results)
        .close(false);
    sink_(line_);
  }
  void finish() override {}

 private:
  Table::Sink sink_;
  std::string line_;
};

}  // namespace

void append_csv_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::unique_ptr<ResultWriter> make_result_writer(ResultFormat format, const store::RunRecord& run,
                                                 bool with_state, const TableStyle& style,
                                                 const Table::Sink& sink) {
  switch (format) {
    case ResultFormat::csv:
      return std::make_unique<CsvWriter>(run, with_state, sink);
    case ResultFormat::jsonl:
      return std::make_unique<JsonWriter>(sink);
    case ResultFormat::table:
      break;
  }
  return std::make_unique<TableWriter>(run, with_state, style, sink);
}

}  // namespace gantry::cli
