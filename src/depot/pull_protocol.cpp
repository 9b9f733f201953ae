#include "depot/pull_protocol.hpp"

#include <algorithm>

#include "base/ssh_text.hpp"
#include "depot/file_tools.hpp"
#include "depot/wire_fields.hpp"

namespace gantry::depot {

namespace {

bool is_scratch(std::string_view path) {
  // A line of text to a shell, a log or a person.
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return false;
  if (path.starts_with("~/")) return is_below(path.substr(2));
  return path.starts_with('/') && is_below(path.substr(1));
}

}  // namespace

bool is_usable(const PeerSite& peer) {
  return is_ssh_name(peer.ssh) && is_scratch(peer.scratch) && is_plain_name(peer.agent) &&
         peer.agent.starts_with("gantry-agent-");
}

void encode(std::string& out, const Pull& m) {
  FrameWriter frame(out, FilesMessage::pull);
  frame.encoder.u64(m.id);
  put_digest(frame.encoder, m.content);
  frame.encoder.u64(m.bytes).u8(m.executable ? 1 : 0);
  frame.encoder.str(m.from.ssh).str(m.from.scratch).str(m.from.agent);
}

std::optional<Pull> decode_pull(std::string_view body) {
  Decoder d(body);
  Pull m;
  m.id = d.u64();
  m.content = get_digest(d);
  m.bytes = get_size(d);
  m.executable = get_flag(d);
  m.from.ssh = get_text(d);
  m.from.scratch = get_text(d);
  m.from.agent = get_text(d);
  if (!is_usable(m.from)) d.set_bad();
  return complete(d, std::move(m));
}

void encode(std::string& out, const Want& m) {
  FrameWriter frame(out, FilesMessage::want);
  frame.encoder.u64(m.id);
  put_digest(frame.encoder, m.content);
  frame.encoder.u64(m.skip);
}

std::optional<Want> decode_want(std::string_view body) {
  Decoder d(body);
  Want m;
  m.id = d.u64();
  m.content = get_digest(d);
  m.skip = get_size(d);
  return complete(d, m);
}

std::vector<std::string> peer_words(const PeerSite& peer, const std::string& token) {
  // One line without '!', which csh would expand even within quotes.
  const std::string script = "cd " + shell_quoted_path(peer.scratch) + " && test -x bin/" +
                             peer.agent + " || { echo 'Gantry has nothing in its scratch folder " +
                             "there (is it another machine, or another user?)' >&2; exit 1; }; " +
                             "exec bin/" + peer.agent + " give . " + token;
  std::vector<std::string> words{"ssh", "-T"};
  const auto options = ssh_options();
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", peer.ssh, "exec sh -c " + shell_quoted(script)});
  return words;
}

std::string giver_greeting(std::string_view token) {
  return std::string(token) + " gives\n";
}

}  // namespace gantry::depot
