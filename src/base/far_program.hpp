#pragma once
/// A program that talks to another machine for us (ssh), in a process of its own: its standard
/// input and output are one socket, and what it says to a person is kept. Never waits. Ends with
/// this object.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/characters.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry {

/// A random word, which no login shell's greeting can hold.
Result<std::string> make_token();

class FarProgram {
 public:
  FarProgram() = default;
  /// Something else at the far end of a socket, without a process. `errors` does not block.
  FarProgram(UniqueFd socket, UniqueFd errors)
      : socket_(std::move(socket)), errors_(std::move(errors)) {}
  FarProgram(FarProgram&& other) noexcept { *this = std::move(other); }
  FarProgram& operator=(FarProgram&& other) noexcept;
  FarProgram(const FarProgram&) = delete;
  FarProgram& operator=(const FarProgram&) = delete;
  ~FarProgram() { kill(); }

  /// In a process group of its own: Ctrl-C is not for it, and what it starts to get through to a
  /// jump host ends with it.
  static Result<FarProgram> start(const std::vector<std::string>& words);

  /// What is sent here it reads, and the other way round. May be taken away.
  [[nodiscard]] UniqueFd& socket() { return socket_; }
  [[nodiscard]] const UniqueFd& socket() const { return socket_; }
  /// Readable when it has something to say to a person; -1 when it never will.
  [[nodiscard]] int words_fd() const { return errors_.get(); }
  /// Reads that, lest it wait for us. To be called now and then.
  void listen();
  /// The last line that it wrote to standard error.
  [[nodiscard]] const std::string& said() const { return said_; }
  /// The last line of it.
  std::string last_words();

  /// It has ended, and is no more of our concern.
  [[nodiscard]] bool has_ended();

 private:
  void kill();

  pid_t pid_ = -1;
  UniqueFd socket_;
  UniqueFd errors_;
  std::string said_;
};

}  // namespace gantry
