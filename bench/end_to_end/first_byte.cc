// fork, exec, read one byte.
#include "bench/end_to_end/first_byte.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

namespace infer::bench {

double seconds_to_first_byte(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const auto start = std::chrono::steady_clock::now();
  // vfork's child shares memory: it may only call what does not touch it.
  const pid_t child = vfork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw std::runtime_error("cannot start " + command[0]);
  }
  char byte = 0;
  const ssize_t got = read(ends[0], &byte, 1);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  if (got != 1) throw std::runtime_error(command[0] + " ended without a byte of output");
  return seconds;
}

}  // namespace infer::bench
