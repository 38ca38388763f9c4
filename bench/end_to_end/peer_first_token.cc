// peer_first_token LIBRARIES MODEL PROMPT THREADS: prints the first token that llama.cpp gives for a prompt; what
// `infer-node run -n 1` is compared with.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "bench/end_to_end/llama_library.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: peer_first_token LIBRARIES MODEL PROMPT THREADS\n";
    return 2;
  }
  try {
    infer::bench::llama_library llama(argv[1], argv[2], 512, static_cast<std::uint32_t>(std::atoi(argv[4])));
    const std::string text = llama.piece_of(llama.feed(llama.tokenize(argv[3]))) + "\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) return 1;
    std::_Exit(0);  // taking the libraries apart is not part of the measurement, and the reader has what it wants
  } catch (const std::exception& e) {
    std::cerr << "peer_first_token: " << e.what() << "\n";
    return 1;
  }
}
