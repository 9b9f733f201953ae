#pragma once
/// The JSON of the journal's columns: flat objects of named values, and lists. Valid JSON whatever
/// bytes a task or a person put in, so that SQL's json functions always work. A value that is
/// written like a JSON number becomes a number, with its digits untouched: SQL compares it as one,
/// and we read back the same text.
///
/// JSON cannot hold bytes that are not UTF-8. They are shown as U+FFFD, and the writer says so: the
/// exact bytes then go into a length-framed blob beside the JSON (frame_pairs).

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gantry::store {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Valid UTF-8 without NUL.
bool is_plain_text(std::string_view bytes);
/// The whole text is a number by JSON's grammar: may be written into JSON as it stands.
bool is_json_number(std::string_view text);
/// `text` in quotes, escaped. False when bytes had to be replaced.
bool append_json_string(std::string& out, std::string_view text);

/// Replaces `out` with `{"name":value,…}`. False when bytes had to be replaced.
bool write_json(const Pairs& pairs, std::string& out);
/// Replaces `out` with `["word",…]`. False when bytes had to be replaced.
bool write_json(const std::vector<std::string>& words, std::string& out);
/// Reads what write_json() wrote; nothing when it is something else.
std::optional<Pairs> read_json_pairs(std::string_view json);
std::optional<std::vector<std::string>> read_json_words(std::string_view json);

/// Length-framed, for bytes that JSON cannot hold.
void frame_pairs(const Pairs& pairs, std::string& out);
std::optional<Pairs> unframe_pairs(std::string_view framed);
void frame_words(const std::vector<std::string>& words, std::string& out);
std::optional<std::vector<std::string>> unframe_words(std::string_view framed);

}  // namespace gantry::store
