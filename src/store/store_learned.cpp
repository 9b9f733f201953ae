// Store: what runs have taught, for the next ones.
#include <cassert>

#include "store/store_impl.hpp"

namespace gantry::store {

Result<> Store::learn(const std::string& kind, Learned learned) {
  assert(impl_->access == Access::read_write);
  std::string name = learned.name;
  impl_->group.learned.insert_or_assign({kind, std::move(name)}, std::move(learned));
  return {};
}

Result<> Store::Impl::write_learned() {
  if (group.learned.empty()) return {};
  TRY_ASSIGN(Statement s, db.prepare("INSERT OR REPLACE INTO learned (kind, name, updated, value) "
                                     "VALUES (?,?,?,?)"));
  for (const auto& [key, learned] : group.learned)
    TRY(s.text(key.first)
            .text(key.second)
            .integer(to_ns(learned.updated))
            .text(learned.value)
            .run());
  return {};
}

Result<std::vector<Store::Learned>> Store::learned(const std::string& kind) const {
  TRY_ASSIGN(
      Statement s,
      impl_->db.prepare("SELECT name, updated, value FROM learned WHERE kind = ? ORDER BY name"));
  s.text(kind);
  std::vector<Learned> all;
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return all;
    Learned& one = all.emplace_back();
    one.name = s.string();
    one.updated = from_ns(s.integer());
    one.value = s.string();
  }
}

}  // namespace gantry::store
