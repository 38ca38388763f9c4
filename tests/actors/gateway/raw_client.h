// A client that says exactly what it is told to, byte by byte, over a loopback socket.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace infer::actors {

struct raw_answer {
  int status = 0;                             // 0: the connection ended before a head
  std::map<std::string, std::string> fields;  // names in lower case
  std::string body;                           // chunks joined
  bool complete = false;                      // the body ended as its head said
};

class raw_client {
 public:
  explicit raw_client(std::uint16_t port, int receive_buffer = 0);
  ~raw_client();
  raw_client(raw_client&& other) noexcept;

  void send(std::string_view bytes);
  /// One answer with its body. `head_only` after a HEAD request.
  raw_answer answer(bool head_only = false);
  /// Everything up to and with `mark`; what came without it where the connection ended or was silent for 10 s.
  std::string read_until(std::string_view mark);
  /// The server has closed the connection (nothing else may come).
  bool ended();
  /// Closes the sending side only.
  void half_close();
  void close();

 private:
  bool more();

  int socket_ = -1;
  std::string in_;
};

/// A request with a JSON body.
std::string post(std::string_view path, std::string_view body, std::string_view more_fields = "");
std::string get(std::string_view path, std::string_view more_fields = "");

}  // namespace infer::actors
