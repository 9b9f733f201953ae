#pragma once
/// The story of one task in words and as JSON: what it is, what happened to it and why, what will
/// happen next. Pure.

#include <string>
#include <vector>

#include "query/task_story.hpp"

namespace gantry::cli {

/// One line each, not wrapped.
/// `output_dir` is where pack files lie.
std::vector<std::string> explain(const query::TaskStory& story, const std::string& output_dir);

/// The same as one JSON object.
void append_explain_json(std::string& out, const query::TaskStory& story);

/// "command, environment": which parts differ; empty when none does.
std::string changed_text(const query::ChangedParts& parts);

/// What the next `gantry run` of the study does with the task.
std::string what_comes_next(const query::TaskStory& story);

}  // namespace gantry::cli
