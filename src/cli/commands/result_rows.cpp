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

std::vector<Column> result_columns(const store::RunRecord& run, bool with_state) {
  std::vector<Column> columns;
  for (auto& name : headings(run, with_state)) columns.push_back({std::move(name)});
  columns.front() = {"task", false, false, std::to_string(run.counts.total).size()};
  return columns;
}

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

ResultWriter::ResultWriter(ResultFormat format, const store::RunRecord& run, bool with_state,
                           const TableStyle& style, Table::Sink sink)
    : format_(format),
      run_(run),
      with_state_(with_state),
      sink_(std::move(sink)),
      table_(result_columns(run, with_state), style, sink_),
      fields_(headings(run, with_state)) {
  if (format_ == ResultFormat::csv) write_csv();
}

void ResultWriter::add(const store::TaskRow& row) {
  if (format_ == ResultFormat::jsonl) return write_json(row);
  std::size_t next = 0;
  const auto add_field = [&](std::string_view text) { fields_[next++].assign(text); };
  add_field(std::to_string(row.task.value()));
  if (with_state_) add_field(to_string(query::state_of(&row)));
  query::for_each_value(run_, row, add_field);
  if (format_ == ResultFormat::csv) return write_csv();
  table_.add({fields_.begin(), fields_.end()});
}

void ResultWriter::write_csv() {
  line_.clear();
  for (const auto& field : fields_) {
    if (&field != &fields_.front()) line_ += ',';
    append_csv_field(line_, field);
  }
  sink_(line_);
}

void ResultWriter::write_json(const store::TaskRow& row) {
  line_.clear();
  JsonLine(line_)
      .number("task", row.task.value())
      .text("state", to_string(query::state_of(&row)))
      .scalars("parameters", row.parameters)
      .scalars("results", row.results)
      .close(false);
  sink_(line_);
}

}  // namespace gantry::cli
