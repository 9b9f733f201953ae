#include "cli/terminal/full_screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace gantry::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // another screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::size_t kUsualRows = 24;

}  // namespace

Result<FullScreen> FullScreen::open(Output& out) {
  TRY_ASSIGN(auto signals, driver::StopSignals::watch());
  return FullScreen(out, std::move(signals));
}

FullScreen::FullScreen(Output& out, driver::StopSignals signals)
    : out_(&out), signals_(std::move(signals)) {
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VSUSP] = _POSIX_VDISABLE;  // a shell's prompt would stand in the picture
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  out_->write(kEnter);
  out_->flush();
}

FullScreen::FullScreen(FullScreen&& other) noexcept
    : out_(std::exchange(other.out_, nullptr)),
      signals_(std::move(other.signals_)),
      before_(std::exchange(other.before_, std::nullopt)) {}

FullScreen::~FullScreen() {
  if (out_ == nullptr) return;
  out_->write(kLeave);
  out_->flush();
  if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

void FullScreen::draw(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += "\r\n";
    text += lines[i];
    text += "\x1b[K";
  }
  text += "\x1b[J";
  out_->write(text);
  out_->flush();
}

std::size_t FullScreen::rows() const {
  winsize size{};
  return ::ioctl(out_->fd(), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsualRows;
}

bool FullScreen::wait(Duration time) {
  pollfd fds[] = {{signals_.fd(), POLLIN, 0}, {before_ ? STDIN_FILENO : -1, POLLIN, 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  ::poll(fds, 2, static_cast<int>(std::max<std::int64_t>(ms, 0)));
  if (signals_.take() > 0) return false;
  if (fds[1].revents == 0) return true;
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) != 1) return false;
  return key != 'q' && key != 'Q';
}

}  // namespace gantry::cli
