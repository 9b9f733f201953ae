#include "cli/terminal/progress_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/terminal.hpp"

namespace gantry::cli {
namespace {

/// Of several runs; a terminal has few lines.
constexpr std::size_t kRunsShown = 8;

std::uint32_t ended(const store::Counts& counts) {
  return counts.done + counts.failed + counts.cancelled;
}

double part_ended(const store::Counts& counts) {
  if (counts.total == 0) return 1;
  return std::min(1.0, static_cast<double>(ended(counts)) / counts.total);
}

/// A bar with eighths of a character where the terminal has them.
std::string bar(double part, std::size_t width, bool utf8) {
  if (!utf8) {
    const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
    return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
  }
  constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(part * static_cast<double>(width) * 8);
  std::string text = "▕";
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const std::size_t used = (eighths + 7) / 8;
  text.append(width - used, ' ');
  return text + "▏";
}

struct Piece {
  std::string text;
  Color color = Color::none;
};

/// Pieces side by side, as many as have room; the first ones matter most.
std::string join(const std::vector<Piece>& pieces, std::size_t room, bool color) {
  std::string line;
  std::size_t used = 0;
  for (const auto& piece : pieces) {
    const std::size_t width = display_width(piece.text) + (used > 0 ? 2 : 0);
    if (used + width > room) break;
    if (used > 0) line += "  ";
    line += paint(piece.text, piece.color, color);
    used += width;
  }
  return line;
}

std::vector<Piece> count_pieces(const driver::Progress& progress) {
  const auto& counts = progress.counts;
  std::vector<Piece> pieces{{fmt::format("{}/{}", ended(counts), counts.total), Color::bold}};
  if (counts.failed > 0) pieces.push_back({fmt::format("{} failed", counts.failed), Color::red});
  if (counts.cancelled > 0)
    pieces.push_back({fmt::format("{} cancelled", counts.cancelled), Color::yellow});
  pieces.push_back({fmt::format("{} running", counts.running), Color::none});
  if (progress.retrying > 0)
    pieces.push_back({fmt::format("{} to retry", progress.retrying), Color::yellow});
  return pieces;
}

/// A line for one of several runs.
std::vector<Piece> run_pieces(const driver::RunProgress& run) {
  constexpr std::size_t kNameWidth = 24;
  const double part = part_ended(run.counts);
  std::vector<Piece> pieces{
      {fmt::format("  {:<{}}", fit(one_line(run.name), kNameWidth, false), kNameWidth),
       Color::none},
      {fmt::format("{:3}%", static_cast<int>(part * 100)), Color::none},
      {fmt::format("{}/{}", ended(run.counts), run.counts.total), Color::bold}};
  if (run.counts.failed > 0)
    pieces.push_back({fmt::format("{} failed", run.counts.failed), Color::red});
  if (run.eta.expected > Duration{0}) pieces.push_back({"ETA " + format_eta(run.eta), Color::none});
  pieces.push_back({fmt::format("run {}", run.run.value()), Color::dim});
  return pieces;
}

}  // namespace

std::vector<std::string> progress_block(const driver::Progress& progress,
                                        const ProgressStyle& style) {
  const std::size_t room = style.columns > 1 ? style.columns - 1 : 1;
  const double part = part_ended(progress.counts);
  // 100% only when nothing is left: 999,999 of a million is 99%.
  const std::string percent = fmt::format("{:3}%", static_cast<int>(part * 100));
  const std::vector<Piece> pieces = count_pieces(progress);
  const std::string counts = join(pieces, room, false);
  const std::size_t beside = percent.size() + display_width(counts) + 6;
  std::string first;
  if (room >= beside + 10) {
    const std::size_t bar_width = std::min<std::size_t>(40, room - beside);
    const Color bar_color = progress.counts.failed > 0 ? Color::yellow : Color::green;
    first = paint(bar(part, bar_width, style.utf8), bar_color, style.color) + " " + percent + "  ";
  }
  first += join(pieces, room, style.color);

  std::vector<Piece> second;
  if (progress.draining)
    second.push_back({fmt::format("{}: finishing what runs", progress.draining_why.empty()
                                                                 ? std::string("stopping")
                                                                 : one_line(progress.draining_why)),
                      Color::yellow});
  if (progress.draining) second.push_back({"Ctrl-C again cancels it", Color::none});
  if (progress.eta.expected > Duration{0} && !progress.draining)
    second.push_back({"ETA " + format_eta(progress.eta), Color::none});
  second.push_back({fmt::format("elapsed {}", format_duration(progress.elapsed)), Color::none});
  if (progress.tasks_per_second > 0)
    second.push_back({format_rate(progress.tasks_per_second), Color::none});
  second.push_back({progress.runs.empty() ? fmt::format("run {}", progress.run.value())
                                          : fmt::format("{} runs", progress.runs.size()),
                    Color::dim});
  std::vector<std::string> lines{first, join(second, room, style.color)};
  for (std::size_t i = 0; i < progress.runs.size() && i < kRunsShown; ++i)
    lines.push_back(join(run_pieces(progress.runs[i]), room, style.color));
  if (progress.runs.size() > kRunsShown)
    lines.push_back(fmt::format("  and {} more runs", progress.runs.size() - kRunsShown));
  return lines;
}

std::string progress_line(const driver::Progress& progress) {
  const auto& counts = progress.counts;
  std::string line = fmt::format("{}/{} done", counts.done, counts.total);
  if (counts.failed > 0) line += fmt::format(", {} failed", counts.failed);
  if (counts.cancelled > 0) line += fmt::format(", {} cancelled", counts.cancelled);
  line += fmt::format(", {} running", counts.running);
  if (progress.retrying > 0) line += fmt::format(", {} to retry", progress.retrying);
  if (progress.tasks_per_second > 0) line += ", " + format_rate(progress.tasks_per_second);
  line += ", elapsed " + format_duration(progress.elapsed);
  if (progress.draining)
    line += ", stopping";
  else if (progress.eta.expected > Duration{0})
    line += ", ETA " + format_eta(progress.eta);
  return line;
}

std::string counts_text(const store::Counts& counts, std::uint32_t unchanged,
                        std::uint32_t unknown) {
  std::string text = fmt::format("{} done", counts.done);
  if (unchanged > 0) text += fmt::format(" ({} unchanged)", unchanged);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.cancelled > 0) text += fmt::format(", {} cancelled", counts.cancelled);
  if (counts.running > 0) text += fmt::format(", {} running", counts.running);
  if (unknown > 0) text += fmt::format(", {} unknown", unknown);
  const std::uint32_t accounted = ended(counts) + counts.running + unknown;
  if (accounted < counts.total) text += fmt::format(", {} pending", counts.total - accounted);
  if (counts.done != counts.total) text += fmt::format(", {} in all", counts.total);
  return text;
}

}  // namespace gantry::cli
