#include "cli/terminal/task_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.hpp"
#include "cli/terminal/display_text.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

/// The name comes from a database that may be damaged: it must not lead out of the folder.
bool stays_inside(const std::filesystem::path& name) {
  return !name.empty() && name.is_relative() &&
         std::ranges::none_of(name, [](const auto& part) { return part == ".."; });
}

class Printer {
 public:
  Printer(Output& to, bool sanitise, const std::string& tag)
      : to_(to), sanitise_(sanitise), tag_(tag) {}
  void print(std::string_view piece) {
    if (sanitise_)
      write(sanitiser_.feed(piece));
    else
      write(piece);
  }
  void finish() {
    write(sanitiser_.finish());
    if (!tag_.empty() && !at_line_start_) to_.write("\n");
  }

 private:
  void write(std::string_view text) {
    if (tag_.empty()) return to_.write(text);
    while (!text.empty()) {
      if (at_line_start_) to_.write(tag_);
      const std::size_t end = text.find('\n');
      at_line_start_ = end != std::string_view::npos;
      const std::size_t size = at_line_start_ ? end + 1 : text.size();
      to_.write(text.substr(0, size));
      text.remove_prefix(size);
    }
  }

  Output& to_;
  bool sanitise_;
  const std::string& tag_;
  bool at_line_start_ = true;
  Sanitiser sanitiser_;
};

Result<> print_pack(Printer& printer, const Output& to, const CapturedOutput& captured, int fd) {
  std::string piece(kPiece, '\0');
  std::uint64_t done = 0;
  while (done < captured.size && !to.closed()) {
    const std::size_t want = std::min<std::uint64_t>(piece.size(), captured.size - done);
    const ssize_t size =
        ::pread(fd, piece.data(), want, static_cast<off_t>(captured.offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return fail_errno("cannot read the output file " + captured.pack);
    if (size == 0) {
      if (captured.truncated) return {};
      return fail(ErrorCode::corrupt,
                  fmt::format("the output file {} ends too early", captured.pack));
    }
    printer.print(std::string_view(piece).substr(0, static_cast<std::size_t>(size)));
    done += static_cast<std::uint64_t>(size);
  }
  return {};
}

}  // namespace

Result<> print_captured(Output& to, bool sanitise, const CapturedOutput& captured,
                        const std::filesystem::path& output_dir, const std::string& tag) {
  Printer printer(to, sanitise, tag);
  Result<> result;
  if (captured.pack.empty()) {
    printer.print(captured.text);
    if (captured.truncated)
      result =
          fail(ErrorCode::io,
               fmt::format("only the last {} of {} bytes are left of this output: the disk was "
                           "full when it was printed",
                           captured.text.size(), captured.size));
  } else if (!stays_inside(captured.pack)) {
    result = fail(ErrorCode::corrupt,
                  fmt::format("the store names an output file outside of its folder: {}",
                              one_line(captured.pack)));
    printer.print(captured.text);
  } else if (auto file = open_file(output_dir / captured.pack, O_RDONLY)) {
    result = print_pack(printer, to, captured, file->get());
  } else {
    file.error().hint = "only the end of this output is left: it was kept in the store as well";
    result = tl::unexpected(std::move(file).error());
    printer.print(captured.text);
  }
  printer.finish();
  return result;
}

}  // namespace gantry::cli
