#pragma once
/// For tests: a mover to a site whose scratch folder is on this machine. It copies files itself,
/// without any server: the other kind of mover beside the one over a stream.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "actuate/mover.hpp"
#include "base/fd.hpp"
#include "depot/depot.hpp"

namespace gantry {

class FolderMover final : public Mover {
 public:
  explicit FolderMover(std::filesystem::path scratch)
      : scratch_(std::move(scratch)), depot_(depot::Depot::open(scratch_).value()) {
    events_.emplace_back(Inventory{.files = depot_.list().value()});
  }

  TransferId put(const Put& file) override {
    const auto bytes = read_file(file.path);
    if (!bytes) return answer(tl::unexpected(bytes.error()));
    return answer(depot_.store(file.content, *bytes, file.executable));
  }
  TransferId get(const Get& file) override {
    std::error_code error;
    const std::filesystem::path local = file.local;
    std::filesystem::create_directories(local.parent_path(), error);
    std::filesystem::copy_file(scratch_ / file.remote, local,
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error) return answer(fail(ErrorCode::gone, file.remote + ": " + error.message()));
    return answer({});
  }
  TransferId drop(const Digest& content) override { return answer(depot_.remove(content)); }
  TransferId verify(const Digest& content) override { return answer(depot_.verify(content)); }
  TransferId remove(const std::string& remote) override {
    std::error_code error;
    std::filesystem::remove_all(scratch_ / remote, error);
    return answer({});
  }
  void cancel(TransferId) override {}

  Result<> poll(std::vector<MoverEvent>& events) override {
    std::ranges::move(std::exchange(events_, {}), std::back_inserter(events));
    return {};
  }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {}; }
  bool close() override { return true; }

  /// What it tells next, whatever has happened.
  void say(MoverEvent event) { events_.push_back(std::move(event)); }

 private:
  TransferId answer(const Result<>& result) {
    const TransferId id(++last_);
    if (result)
      events_.emplace_back(TransferDone{id});
    else
      events_.emplace_back(TransferFailed{.id = id, .why = result.error().message});
    return id;
  }

  std::filesystem::path scratch_;
  depot::Depot depot_;
  std::uint64_t last_ = 0;
  std::vector<MoverEvent> events_;
};

}  // namespace gantry
