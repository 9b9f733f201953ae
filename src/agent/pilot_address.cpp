#include "agent/pilot_address.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>

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
  const std::string_view port = take_word(text);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size() || address.port == 0)
    return std::nullopt;
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
  std::array<std::uint8_t, kSecretBytes / 2> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail_errno("getrandom");
  std::string secret;
  for (const unsigned byte : bytes) {
    secret += "0123456789abcdef"[byte >> 4U];
    secret += "0123456789abcdef"[byte & 15U];
  }
  return secret;
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
