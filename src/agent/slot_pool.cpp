#include "agent/slot_pool.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/process_tree.hpp"

namespace gantry::agent {

Result<std::size_t> SlotPool::acquire(bool& fresh) {
  if (idle_.empty()) {
    idle_.push_back(slots_.size());
    slots_.push_back(std::make_unique<Slot>());
  }
  const std::size_t index = idle_.back();
  Slot& slot = *slots_[index];
  fresh = !slot.stream;
  if (fresh) {
    common_.slot = static_cast<unsigned>(index);
    TRY_ASSIGN(ShepherdHandle handle, start_shepherd(common_));
    slot.pid = handle.pid;
    slot.stream = FrameStream(std::move(handle.socket));
    slot.has_hello = false;
  }
  idle_.pop_back();
  return index;
}

void SlotPool::release(std::size_t index) {
  slots_[index]->busy = false;
  idle_.push_back(index);
}

bool SlotPool::is_shepherd(pid_t pid) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const auto& slot) { return slot->pid == pid; });
}

void SlotPool::bury(std::size_t index) {
  slots_[index]->stream.close();
  slots_[index]->pid = -1;
  // Whatever is our child and no shepherd. A process that is stuck in the kernel is not waited for.
  for (int round = 0; round < 1000; ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    bool clean = true;
    for (const pid_t child : children(::getpid())) {
      if (is_shepherd(child)) continue;
      clean = false;
      for (const pid_t pid : descendants(child)) ::kill(pid, SIGKILL);
      ::kill(child, SIGKILL);
    }
    if (clean) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace gantry::agent
