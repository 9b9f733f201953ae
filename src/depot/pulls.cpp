#include "depot/pulls.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gantry::depot {

namespace {

constexpr std::size_t kMaxPrelude = std::size_t{256} << 10;
constexpr std::size_t kMostInAStep = std::size_t{2} << 20;

tl::unexpected<Error> broken(std::string why) {
  return fail(ErrorCode::peer, std::move(why));
}
tl::unexpected<Error> not_understood() {
  return broken("what the giving site says is not our protocol");
}

}  // namespace

Result<FarProgram> open_ssh_peer(const PeerSite& site, const std::string& token) {
  auto ssh = FarProgram::start(peer_words(site, token));
  if (!ssh) return broken(ssh.error().message);
  return ssh;
}

void Pulls::add(const PeerSite& from, const Want& want, std::uint64_t bytes, TimePoint now) {
  Link& link = links_[from];
  if (link.wanted.empty()) link.heard = now;
  link.wanted.push_back({want.id, bytes, want.skip});
  encode(link.outbox, want);
}

void Pulls::forget(RequestId id) {
  for (auto& [site, link] : links_)
    for (Wanted& wanted : link.wanted)
      if (wanted.id == id) wanted.forgotten = true;
  std::erase_if(links_, [](const auto& each) { return each.second.is_needless(); });
}

void Pulls::step(TimePoint now, const OnPiece& piece, const OnFailure& failure) {
  for (auto at = links_.begin(); at != links_.end();) {
    Link& link = at->second;
    const bool idle = link.wanted.empty() && now - link.heard >= options_.idle;
    Result<> worked;
    if (!link.peer && !link.wanted.empty()) worked = open(link, at->first, now);
    if (worked && link.peer && !idle) worked = work(link, now, piece, failure);
    if (worked && !link.wanted.empty() && now - link.heard >= options_.patience)
      worked = broken("the giving site has said nothing for too long");
    if (!worked)
      for (const Wanted& wanted : link.wanted)
        if (!wanted.forgotten) failure(wanted.id, worked.error());
    at = !worked || idle || link.is_needless() ? links_.erase(at) : std::next(at);
  }
}

Result<> Pulls::open(Link& link, const PeerSite& site, TimePoint now) {
  if (!options_.open) return broken("no other site can be reached from here");
  TRY_ASSIGN(const std::string token, make_token());
  TRY_ASSIGN(link.peer, options_.open(site, token));
  link.greeting = giver_greeting(token);
  link.heard = now;
  return {};
}

Result<> Pulls::work(Link& link, TimePoint now, const OnPiece& piece, const OnFailure& failure) {
  send(link);
  link.peer->listen();
  bool more = true;
  for (std::size_t i = 0; more && i < kMostInAStep / kPieceBytes; ++i) {
    TRY_ASSIGN(more, receive(link, now));
    while (const auto frame = link.reader.next()) TRY(take(link, *frame, piece, failure));
    if (link.reader.broken()) return not_understood();
  }
  return {};
}

void Pulls::send(Link& link) {
  while (!link.outbox.empty()) {
    const ssize_t n = ::send(link.peer->socket().get(), link.outbox.data(), link.outbox.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // no room now; that it broke is seen when reading
    link.outbox.erase(0, static_cast<std::size_t>(n));
  }
}

Result<bool> Pulls::receive(Link& link, TimePoint now) {
  const auto [at, room] = link.reader.space(kPieceBytes);
  const ssize_t n = ::recv(link.peer->socket().get(), at, room, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    if (link.wanted.empty()) return broken("");  // it did not want to wait any longer
    const std::string why = link.peer->last_words();
    return broken(why.empty() ? "the connection broke off" : why);
  }
  link.heard = now;
  if (link.greeting.empty()) {
    link.reader.filled(static_cast<std::size_t>(n));
    return true;
  }
  link.prelude.append(at, static_cast<std::size_t>(n));
  const std::size_t found = link.prelude.find(link.greeting);
  if (found != std::string::npos) {
    link.reader.append(std::string_view(link.prelude).substr(found + link.greeting.size()));
    link.greeting.clear();
    link.prelude.clear();
  } else if (link.prelude.size() > kMaxPrelude) {
    return broken("its login shell prints without end");
  }
  return true;
}

Result<> Pulls::take(Link& link, const RawFrame& frame, const OnPiece& piece,
                     const OnFailure& failure) {
  if (link.wanted.empty()) return not_understood();
  Wanted& wanted = link.wanted.front();
  switch (static_cast<FilesMessage>(frame.type)) {
    case FilesMessage::file: {
      const auto head = decode<FileHead>(frame.body);
      if (!head || head->id != wanted.id || std::exchange(wanted.answered, true) ||
          head->bytes != wanted.bytes)
        return not_understood();
      return {};
    }
    case FilesMessage::data:
      return take_data(wanted, decode<Data>(frame.body), piece);
    case FilesMessage::data_packed:
      return take_data(wanted, decode_packed<Data>(frame.body, unpacker_), piece);
    case FilesMessage::end: {
      const auto end = decode<FileEnd>(frame.body);
      if (!end || end->id != wanted.id || !wanted.answered || wanted.at != wanted.bytes)
        return not_understood();
      link.wanted.pop_front();
      return {};
    }
    case FilesMessage::failed: {
      const auto failed = decode<Failed>(frame.body);
      if (!failed || failed->id != wanted.id) return not_understood();
      const bool forgotten = wanted.forgotten;
      link.wanted.pop_front();
      if (!forgotten) failure(failed->id, Error{ErrorCode::gone, failed->why, {}});
      return {};
    }
    default:
      return not_understood();
  }
}

Result<> Pulls::take_data(Wanted& wanted, const std::optional<Data>& data, const OnPiece& piece) {
  if (!data || data->id != wanted.id || !wanted.answered || data->offset != wanted.at ||
      data->bytes.size() > wanted.bytes - wanted.at)
    return not_understood();
  wanted.at += data->bytes.size();
  if (!wanted.forgotten) wanted.forgotten = !piece(wanted.id, data->bytes);
  return {};
}

void Pulls::add_wanted(std::vector<pollfd>& fds) const {
  for (const auto& [site, link] : links_) {
    if (!link.peer) continue;
    const int events = link.outbox.empty() ? POLLIN : POLLIN | POLLOUT;
    fds.push_back({link.peer->socket().get(), static_cast<short>(events), 0});
    if (const int words = link.peer->words_fd(); words >= 0) fds.push_back({words, POLLIN, 0});
  }
}

TimePoint Pulls::deadline() const {
  TimePoint first = kNever;
  for (const auto& [site, link] : links_) {
    TimePoint due = link.heard + (link.wanted.empty() ? options_.idle : options_.patience);
    if (!link.peer) due = link.heard;  // it is still to be reached
    if (first == kNever || due < first) first = due;
  }
  return first;
}

}  // namespace gantry::depot
