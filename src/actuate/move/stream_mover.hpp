#pragma once
/// A mover over one stream to `gantry-agent files` at the site (through ssh, for example). Many
/// files are under way at once, none waits for an answer. A lost connection is made again, and what
/// was under way goes on where it stopped.

#include <memory>
#include <string>

#include "actuate/move/site_link.hpp"
#include "actuate/mover.hpp"

namespace gantry {

struct StreamMoverOptions {
  ConnectSite connect;
  /// Whose partial files these are at the site: letters, digits, '-', '_'; at most 64. With the
  /// same name, a later gantry goes on at once with what an earlier one has sent of a large file.
  /// Two at the same time must have different names; one is made up when it is empty.
  std::string name;
  std::uint64_t quota = 0;  ///< of the depot, in bytes; 0 = none
  /// How long the site may be away before what waits has failed.
  Duration patience = std::chrono::minutes(10);
  /// How long a site that is connected to, and was asked for something, may say nothing. It says
  /// that it is there every ten seconds.
  Duration silence = std::chrono::seconds(60);
  /// Between attempts to connect: doubled each time.
  Duration first_pause = std::chrono::seconds(1);
  Duration longest_pause = std::chrono::seconds(60);
};

std::unique_ptr<Mover> make_stream_mover(StreamMoverOptions options);

}  // namespace gantry
