// Store: what runs have taught, for the next ones.
#include <cassert>

#include "store/store_impl.hpp"

namespace gantry::store {

Result<> Store::learn(const std::string& kind, Learned learned, std::uint32_t most) {
  assert(impl_->access == Access::read_write);
  if (most > 0) impl_->group.most_learned[kind] = most;
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
  for (const auto& [kind, most] : group.most_learned) {
    TRY_ASSIGN(Statement old,
               db.prepare("DELETE FROM learned WHERE kind = ?1 AND name NOT IN (SELECT name FROM "
                          "learned WHERE kind = ?1 ORDER BY updated DESC, name LIMIT ?2)"));
    TRY(old.text(kind).integer(most).run());
  }
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

Result<std::optional<Store::Learned>> Store::learned(const std::string& kind,
                                                     const std::string& name) const {
  TRY_ASSIGN(Statement s,
             impl_->db.prepare("SELECT updated, value FROM learned WHERE kind = ? AND name = ?"));
  s.text(kind).text(name);
  TRY_ASSIGN(const bool found, s.step());
  if (!found) return std::nullopt;
  Learned one{.name = name, .updated = from_ns(s.integer()), .value = {}};
  one.value = s.string();
  return one;
}

}  // namespace gantry::store
