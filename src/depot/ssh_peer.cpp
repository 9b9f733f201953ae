#include "depot/ssh_peer.hpp"

#include <utility>

#include "base/far_program.hpp"

namespace gantry::depot {

namespace {

class SshPeer final : public Peer {
 public:
  explicit SshPeer(FarProgram ssh) : ssh_(std::move(ssh)) {}

  [[nodiscard]] int fd() const override { return ssh_.socket().get(); }
  [[nodiscard]] int words_fd() const override { return ssh_.words_fd(); }
  void listen() override { ssh_.listen(); }
  std::string last_words() override { return ssh_.last_words(); }

 private:
  FarProgram ssh_;
};

}  // namespace

Result<std::unique_ptr<Peer>> open_ssh_peer(const PeerSite& site, const std::string& token) {
  auto ssh = FarProgram::start(peer_words(site, token));
  if (!ssh) return fail(ErrorCode::peer, ssh.error().message);
  return std::make_unique<SshPeer>(std::move(*ssh));
}

}  // namespace gantry::depot
