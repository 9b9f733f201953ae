#include "agent/pilot_address.hpp"

#include <algorithm>

#include "base/child_process.hpp"
#include "base/whole_number.hpp"

namespace gantry::agent {

namespace {

constexpr std::size_t kMaxHosts = 64;
constexpr std::size_t kMaxNumber = 45;  ///< of IPv6

/// The next word of `text`, which loses it.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

bool is_secret(std::string_view text) {
  return text.size() == kSecretBytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_host(std::string_view text) {
  return text.size() <= kMaxNumber && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '.' || c == ':';
         });
}

}  // namespace

std::string to_text(const PilotAddress& address) {
  std::string text = address.secret + " " + std::to_string(address.port);
  for (const auto& host : address.hosts) text += " " + host;
  return text + " .\n";  // the end: a part of it is no address
}

std::optional<PilotAddress> parse_pilot_address(std::string_view text) {
  PilotAddress address;
  const std::string_view secret = take_word(text);
  if (!is_secret(secret)) return std::nullopt;
  address.secret = secret;
  address.port = parse_whole<std::uint16_t>(take_word(text)).value_or(0);
  if (address.port == 0) return std::nullopt;
  for (;;) {
    const std::string_view host = take_word(text);
    if (host == ".") break;
    if (host.empty() || !is_host(host) || address.hosts.size() == kMaxHosts) return std::nullopt;
    address.hosts.emplace_back(host);
  }
  if (address.hosts.empty()) return std::nullopt;
  return address;
}

Result<std::string> make_secret() {
  TRY_ASSIGN(const Digest one, random_digest());
  TRY_ASSIGN(const Digest other, random_digest());
  return one.hex() + other.hex();
}

bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != kSecretBytes || b.size() != kSecretBytes) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < kSecretBytes; ++i)
    different |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return different == 0;
}

}  // namespace gantry::agent
