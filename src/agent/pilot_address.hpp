#pragma once
/// Where a pilot can be reached, as it tells by a file on the site's shared file system. Pure text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry::agent {

inline constexpr const char* kAddressName = "address";
inline constexpr std::size_t kSecretBytes = 64;

struct PilotAddress {
  std::string secret;  ///< kSecretBytes hexadecimal digits; whoever knows it may give tasks
  std::uint16_t port = 0;
  std::vector<std::string>
      hosts{};  ///< the node's IP addresses, as numbers: the agent looks no names up
};

std::string to_text(const PilotAddress& address);
/// Nothing when it is not one: half written, or damaged.
std::optional<PilotAddress> parse_pilot_address(std::string_view text);

Result<std::string> make_secret();
/// In a time that does not tell how much of it was right.
bool is_same_secret(std::string_view a, std::string_view b);

}  // namespace gantry::agent
