#include "base/background.hpp"

#include <sys/eventfd.h>

#include <utility>

namespace gantry {

Result<Background> Background::start(std::function<void(const std::stop_token&)> work) {
  UniqueFd done(::eventfd(0, EFD_CLOEXEC));
  if (!done) return fail_errno("eventfd");
  std::jthread thread([work = std::move(work), fd = done.get()](const std::stop_token& stop) {
    work(stop);
    ::eventfd_write(fd, 1);
  });
  return Background(std::move(done), std::move(thread));
}

}  // namespace gantry
