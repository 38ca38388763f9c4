// A program of its own that runs a model inside its own actor system: the library's two addresses and one sink.
//
//   embed_example MODEL.gguf "Name the capital of France."
#include <caf/all.hpp>
#include <filesystem>
#include <future>
#include <iostream>

#include "actors/tree/node.h"
#include "protocol/messages/type_ids.h"

namespace {

/// Prints the text as it comes and gives the credit back; keeps the promise when the request ends.
infer::event_sink::behavior_type print_events(infer::event_sink::pointer self,
                                              std::shared_ptr<std::promise<int>> exit_code) {
  using namespace infer::msg;
  auto control = std::make_shared<infer::request_control>();
  const auto end = [self, exit_code, control](int code) {
    *control = nullptr;
    exit_code->set_value(code);
    self->quit();
  };
  return {
      [self, control](const text_made& event) {
        std::cout << event.text << std::flush;
        self->send(*control, taken{event.request_id, event.choice, event.upto});
      },
      [](const choice_finished&) {},
      [](const request_started&) {},
      [end](const request_finished& event) {
        std::cout << "\n[" << event.prompt_tokens << " prompt tokens, " << event.completion_tokens
                  << " completion tokens]\n";
        end(0);
      },
      [end](const request_failed& event) {
        std::cerr << "failed: " << event.message << "\n";
        end(1);
      },
      [](const request_waiting&) {},
      [control](const request_accepted&, const infer::request_control& request) { *control = request; },
      [](const text_transformed&) {},
  };
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: embed_example MODEL.gguf PROMPT\n";
    return 2;
  }
  caf::actor_system_config config;  // a program's own configuration may hold more
  infer::configure(config);
  caf::actor_system system(config);

  infer::node_config node_config;
  infer::actors::zoo_model model;
  model.source.id = std::filesystem::path(argv[1]).stem();
  model.source.path = argv[1];
  node_config.models.push_back(model);
  infer::node node = infer::spawn_node(system, std::move(node_config));

  auto exit_code = std::make_shared<std::promise<int>>();
  auto result = exit_code->get_future();
  {
    const infer::event_sink sink = system.spawn(print_events, exit_code);
    infer::msg::generate request;
    request.request_id = infer::msg::next_request_id();
    request.prompt.kind = infer::msg::prompt_kind::chat;
    request.prompt.messages.push_back({"user", argv[2], {}});
    request.sampling.temperature = 0.0f;
    request.max_tokens = 64;
    caf::anon_send(node.requests, request, sink);
  }
  const int code = result.get();
  infer::stop_node(system, node);
  return code;
}
