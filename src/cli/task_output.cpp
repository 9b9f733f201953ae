#include "cli/task_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.hpp"
#include "cli/display_text.hpp"

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
  Printer(Output& to, bool sanitise) : to_(to), sanitise_(sanitise) {}
  void print(std::string_view piece) {
    if (sanitise_)
      to_.write(sanitiser_.feed(piece));
    else
      to_.write(piece);
  }
  void finish() { to_.write(sanitiser_.finish()); }

 private:
  Output& to_;
  bool sanitise_;
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
                        const std::filesystem::path& output_dir) {
  Printer printer(to, sanitise);
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

std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  const std::size_t before = text.find_last_of("\r\n", end);
  return one_line(text.substr(before == std::string_view::npos ? 0 : before + 1, end - before));
}

}  // namespace gantry::cli
