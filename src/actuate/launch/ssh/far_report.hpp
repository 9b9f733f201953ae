#pragma once
/// What an agent behind ssh reports, told in terms of home: which files of its sandbox belong where
/// here, and what can be cleared up. Pure text.

#include <string>

#include "actuate/launch/agent_channel.hpp"
#include "actuate/launch/ssh/remote_site.hpp"

namespace gantry {

/// `scratch`: the host's folder for us, absolute.
ReportReceived far_report(AgentReport told, const RemoteSite& site, const RemoteHost& host,
                          const std::string& scratch);

}  // namespace gantry
