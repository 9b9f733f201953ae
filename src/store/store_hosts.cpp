// Store: hosts that were given attempts of a run.
#include <cassert>

#include "store/store_impl.hpp"

namespace gantry::store {

void Store::give(RunId run, SiteHost host) {
  assert(impl_->access == Access::read_write);
  impl_->group.hosts[run].insert_or_assign(std::move(host), true);
}

void Store::release(RunId run, const SiteHost& host) {
  assert(impl_->access == Access::read_write);
  impl_->group.hosts[run].insert_or_assign(host, false);
}

void Store::release_all(RunId run) {
  assert(impl_->access == Access::read_write);
  impl_->group.hosts.erase(run);
  impl_->group.released.insert(run);
}

Result<> Store::Impl::write_hosts() {
  for (const RunId run : group.released)
    TRY(db.execute("DELETE FROM given_hosts WHERE run = " + std::to_string(run.value())));
  for (const auto& [run, hosts] : group.hosts) {
    TRY_ASSIGN(Statement add,
               db.prepare("INSERT OR IGNORE INTO given_hosts (run, site, host) VALUES (?,?,?)"));
    TRY_ASSIGN(Statement remove,
               db.prepare("DELETE FROM given_hosts WHERE run = ? AND site = ? AND host = ?"));
    for (const auto& [host, is_given] : hosts)
      TRY((is_given ? add : remove).integer(run.value()).text(host.site).text(host.host).run());
  }
  return {};
}

Result<std::set<SiteHost>> Store::given_hosts(RunId run) const {
  TRY_ASSIGN(Statement s, impl_->db.prepare("SELECT site, host FROM given_hosts WHERE run = ?"));
  s.integer(run.value());
  std::set<SiteHost> hosts;
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return hosts;
    std::string site = s.string();
    hosts.insert({std::move(site), s.string()});
  }
}

}  // namespace gantry::store
