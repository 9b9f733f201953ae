#pragma once
/// Reaches another site by this machine's ssh, as whoever runs this program would by hand.

#include "depot/peer.hpp"

namespace gantry::depot {

Result<std::unique_ptr<Peer>> open_ssh_peer(const PeerSite& site, const std::string& token);

}  // namespace gantry::depot
