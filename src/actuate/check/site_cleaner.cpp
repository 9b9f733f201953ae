#include "actuate/check/site_cleaner.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "actuate/launch/ssh/connection_hint.hpp"
#include "base/whole_number.hpp"

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// A depot may hold millions of files.
constexpr auto kRemovalPatience = 10min;
constexpr std::size_t kMostLines = 10'000;
constexpr std::size_t kLongestLine = 8192;
constexpr int kTickMs = 50;

/// The next word of a line, which is taken away from it.
std::string_view take_word(std::string_view& line) {
  const auto end = line.find(' ');
  const auto word = line.substr(0, end);
  line = end == line.npos ? std::string_view() : line.substr(end + 1);
  return word;
}

bool take_count(std::string_view& line, std::uint64_t& value) {
  const auto count = parse_whole<std::uint64_t>(take_word(line));
  value = count.value_or(0);
  return count.has_value();
}

}  // namespace

HostCleaner::HostCleaner(const RemoteSite& site, RemoteHost host, const AgentBinary& binary,
                         bool all)
    : target_(site.target(host)),
      host_(std::move(host)),
      binary_(binary),
      words_{"clean", ".", site.holder.empty() ? "-" : site.holder, all ? "all" : "own"} {}

Result<> HostCleaner::connect(Duration patience) {
  const auto began = Clock::now();
  TRY_ASSIGN(connection_, SshConnection::begin(target_, binary_, words_));
  for (;;) {
    switch (connection_->advance()) {
      case SshConnection::State::ready:
        socket_ = connection_->take_socket();
        return {};
      case SshConnection::State::failed:
        return lost(connection_->why());
      case SshConnection::State::connecting:
        break;
    }
    if (Clock::now() - began >= connection_->patience(patience)) return lost("it does not answer");
    const short events = connection_->wants_to_send() ? POLLIN | POLLOUT : POLLIN;
    pollfd fd{connection_->fd(), events, 0};
    ::poll(&fd, 1, kTickMs);
  }
}

Result<std::string> HostCleaner::read_line(Clock::time_point deadline) {
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() > kLongestLine) return lost("its agent speaks another language");
    if (Clock::now() >= deadline) return lost("it does not answer");
    pollfd fd{socket_.get(), POLLIN, 0};
    if (::poll(&fd, 1, kTickMs) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) {
      const std::string said = connection_->why();
      return lost(said.empty() ? "the connection broke off" : said);
    }
    received_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

Result<depot::SiteLook> HostCleaner::look(Duration patience) {
  TRY(connect(patience));
  const auto deadline = Clock::now() + patience;
  depot::SiteLook seen;
  for (std::size_t i = 0; i < kMostLines; ++i) {
    TRY_ASSIGN(const std::string text, read_line(deadline));
    std::string_view line = text;
    const auto word = take_word(line);
    if (word == "looked") return seen;
    if (word == "alive")
      seen.alive.emplace_back(line);
    else if (word == "keeping")
      seen.keeping.emplace_back(line);
    else if (word == "strange")
      seen.strange = line;
    else
      break;
  }
  return lost("its agent speaks another language");
}

Result<depot::SiteRemoval> HostCleaner::remove() {
  if (::send(socket_.get(), "r", 1, MSG_NOSIGNAL) != 1) return lost("the connection broke off");
  TRY_ASSIGN(const std::string text, read_line(Clock::now() + kRemovalPatience));
  std::string_view line = text;
  const auto word = take_word(line);
  depot::SiteRemoval removal;
  if (word == "removed" && take_count(line, removal.bytes) && take_count(line, removal.files) &&
      take_count(line, removal.kept))
    return removal;
  if (word == "failed") return lost(std::string(line));
  return lost("its agent speaks another language");
}

tl::unexpected<Error> HostCleaner::lost(const std::string& why) const {
  return fail(ErrorCode::peer, fmt::format("{}: {}", host_.name, why),
              connection_hint(why, ssh_by_hand(target_)));
}

}  // namespace gantry
