// The fixture's body. It lies in a test source because tests are globbed.
#include "tests/actors/gateway/fixture.h"

#include <caf/all.hpp>
#include <condition_variable>
#include <map>
#include <mutex>

#include "actors/gateway/gateway.h"
#include "protocol/messages/type_ids.h"

namespace infer::actors {
namespace {

/// What happened, for the test's thread to wait on.
struct notes {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, int> counts;
  bool zoo_is_silent = false;
  caf::actor_addr waiting;

  void add(const std::string& what) {
    const std::lock_guard lock(mutex);
    ++counts[what];
    changed.notify_all();
  }
};

struct fake_state {
  fake_state() {}
  ~fake_state() {
    if (log) log->add("gone");
  }
  fake_state(const fake_state&) = delete;
  std::shared_ptr<notes> log;
  msg::generate order;
  event_sink sink;
  std::uint32_t made = 0, upto = 0, limit = 0;
  bool flood = false;
};
using fake_pointer = request_control::stateful_pointer<fake_state>;

void begin(fake_pointer self) {
  self->send(self->state.sink, msg::request_started{self->state.order.request_id, "the-model", 5, 2, 42});
}

void make_tokens(fake_pointer self) {
  fake_state& s = self->state;
  while (s.made < s.limit && s.made < s.upto) {
    const std::string text = s.flood ? std::string(1024, 'x') : "w" + std::to_string(s.made) + " ";
    ++s.made;
    for (std::uint32_t choice = 0; choice < s.order.choices; ++choice)
      self->send(s.sink, msg::text_made{s.order.request_id, choice, text, {}, s.made});
    s.log->add("token");
  }
  if (s.made < s.limit) return;
  for (std::uint32_t choice = 0; choice < s.order.choices; ++choice)
    self->send(s.sink, msg::choice_finished{s.order.request_id, choice, msg::finish_reason::stop, "", s.made});
  self->send(s.sink, msg::request_finished{s.order.request_id, 5, s.made * s.order.choices, 2, 1, 1});
  self->quit();
}

void say(fake_pointer self, std::uint32_t limit) {
  self->state.limit = limit;
  self->state.upto = self->state.order.window;
  begin(self);
  make_tokens(self);
}

void one_token(fake_pointer self) {
  begin(self);
  self->send(self->state.sink, msg::text_made{self->state.order.request_id, 0, "w0 ", {}, 1});
}

void follow(fake_pointer self, const std::string& script) {
  fake_state& s = self->state;
  const auto refuse = [&](msg::refusal code, std::uint32_t retry) {
    self->send(s.sink, msg::request_failed{s.order.request_id, code, "so it is", "", retry});
    self->quit();
  };
  if (script.starts_with("say ")) return say(self, static_cast<std::uint32_t>(std::stoul(script.substr(4))));
  if (script == "flood") {
    s.flood = true;
    return say(self, 1'000'000);
  }
  if (script == "start hold") return one_token(self);
  if (script.starts_with("recite ")) {
    std::string text;
    for (int block = 0; block < std::stoi(script.substr(7)); ++block)
      text += "<" + std::to_string(block) + ">" + std::string(1 << 20, 'x');
    begin(self);
    self->send(s.sink, msg::text_made{s.order.request_id, 0, std::move(text), {}, 1});
    s.made = s.limit = 1;
    return make_tokens(self);
  }
  if (script == "refuse") return refuse(msg::refusal::model_loading, 1500);
  if (script == "break") return refuse(msg::refusal::internal, 0);
  if (script == "die") return self->quit(caf::make_error(caf::sec::runtime_error, "died"));
  if (script == "start die") {
    one_token(self);
    return self->quit(caf::make_error(caf::sec::runtime_error, "died"));
  }
  if (script == "wait") {
    self->send(s.sink, msg::request_waiting{s.order.request_id, "loading", 10});
    {
      const std::lock_guard lock(s.log->mutex);
      s.log->waiting = self->address();
    }
    s.log->add("waiting");
  }
}

void transform(fake_pointer self) {
  const msg::generate& order = self->state.order;
  msg::text_transformed out{order.request_id, "the-model", {}, {}, "decoded"};
  if (order.task == msg::request_task::embed) {
    out.embeddings.resize(2 * (1 + order.more_prompts.size()), 0.5f);
    out.prompt_tokens = 3;
  }
  if (order.task == msg::request_task::encode) out.ids = {1, 2, static_cast<std::int32_t>(order.prompt.text.size())};
  self->send(self->state.sink, out);
  self->quit();
}

request_control::behavior_type fake_request(fake_pointer self, std::shared_ptr<notes> log, msg::generate order,
                                            event_sink sink) {
  self->state.log = log;
  self->state.order = order;
  self->state.sink = sink;
  self->monitor(sink);
  self->set_down_handler([self](caf::scheduled_actor* me, const caf::down_msg&) {
    self->state.log->add("sink down");
    me->quit();
  });
  self->send(sink, msg::request_accepted{order.request_id}, request_control(self));
  if (order.task != msg::request_task::generate)
    transform(self);
  else
    follow(self, order.prompt.messages.empty() ? order.prompt.text : order.prompt.messages.back().content);
  return {
      [self](const msg::taken& taken) {
        if (taken.upto == msg::no_limit) return say(self, 2);  // the test releases a waiting request
        if (taken.choice == 0) self->state.upto = taken.upto + self->state.order.window;
        if (self->state.limit != 0) make_tokens(self);
      },
      [self](const msg::cancel_request&) {
        self->state.log->add("cancelled");
        self->quit();
      },
  };
}

requests_actor::behavior_type fake_requests(requests_actor::pointer self, std::shared_ptr<notes> log) {
  return {
      [self, log](const msg::generate& order, const event_sink& sink) {
        log->add("generate");
        self->spawn(fake_request, log, order, sink);
      },
      [](const msg::who_holds&) {},
  };
}

zoo_actor::behavior_type fake_zoo(zoo_actor::pointer self, std::shared_ptr<notes> log) {
  return {
      [](const msg::acquire&, const lease_sink&) {},
      [](const msg::release&) {},
      [](const msg::announce&, const lease_sink&, const port_actor&) {},
      [self, log](const msg::list_models& question, const admin_sink& sink) {
        const std::lock_guard lock(log->mutex);
        if (log->zoo_is_silent) return;
        msg::model_row row;
        row.id = "org/the-model:q4@1";
        row.state = msg::model_state::ready;
        row.leases = 2;
        row.work.layers_run = 30;
        self->send(sink, msg::model_list{question.request_id, {row}});
      },
      [](const msg::load_model&, const admin_sink&) {},
      [](const msg::unload_model&, const admin_sink&) {},
  };
}

struct prepared_config : caf::actor_system_config {
  prepared_config() {
    register_messages(*this);
    set("scheduler.max-threads", 2);
  }
};

}  // namespace

struct gateway_fixture::parts {
  std::shared_ptr<notes> log = std::make_shared<notes>();
  prepared_config config;
  caf::actor_system system{config};
  std::unique_ptr<http_server> server;
  requests_actor requests;
  zoo_actor zoo;
  caf::actor gateway;
};

gateway_fixture::gateway_fixture() : parts_(std::make_unique<parts>()) {}

gateway_fixture::~gateway_fixture() {
  parts_->server.reset();
  kill_gateway();
  caf::anon_send_exit(parts_->requests, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(parts_->zoo, caf::exit_reason::user_shutdown);
  parts_->requests = requests_actor();
  parts_->zoo = zoo_actor();
}

void gateway_fixture::start(const std::function<void(gateway_config&)>& change, bool with_gateway) {
  gateway_config config;
  config.port = 0;
  if (change) change(config);
  parts_->server = std::make_unique<http_server>(std::move(config));
  parts_->requests = parts_->system.spawn(fake_requests, parts_->log);
  parts_->zoo = parts_->system.spawn(fake_zoo, parts_->log);
  const auto port = parts_->server->start();
  ASSERT_TRUE(port.has_value()) << port.error().message();
  port_ = port.value();
  if (with_gateway) start_gateway();
}

bool gateway_fixture::noted(const std::string& what, int times) {
  std::unique_lock lock(parts_->log->mutex);
  return parts_->log->changed.wait_for(lock, std::chrono::seconds(10),
                                       [&] { return parts_->log->counts[what] >= times; });
}

int gateway_fixture::count(const std::string& what) {
  const std::lock_guard lock(parts_->log->mutex);
  return parts_->log->counts[what];
}

int gateway_fixture::tokens_when_quiet() {
  std::unique_lock lock(parts_->log->mutex);
  int& made = parts_->log->counts["token"];
  for (int before = -1; before != made;) {
    before = made;
    parts_->log->changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return made != before; });
  }
  return made;
}

void gateway_fixture::release_waiting() {
  const std::lock_guard lock(parts_->log->mutex);
  if (const auto to = caf::actor_cast<caf::actor>(parts_->log->waiting))
    caf::anon_send(to, msg::taken{0, 0, msg::no_limit});
}

void gateway_fixture::silence_zoo() {
  const std::lock_guard lock(parts_->log->mutex);
  parts_->log->zoo_is_silent = true;
}

void gateway_fixture::start_gateway() {
  parts_->gateway = parts_->system.spawn(run_gateway, parts_->server->link(), parts_->requests, parts_->zoo);
}

void gateway_fixture::kill_gateway() {
  if (!parts_->gateway) return;
  caf::scoped_actor self{parts_->system};
  self->send_exit(parts_->gateway, caf::exit_reason::kill);
  self->wait_for(parts_->gateway);
  parts_->gateway = {};
}

void gateway_fixture::stop_accepting() {
  parts_->server->stop_accepting();
}
bool gateway_fixture::drain(int milliseconds) {
  return parts_->server->drain(std::chrono::milliseconds(milliseconds));
}
void gateway_fixture::stop_server() {
  parts_->server->stop();
}

std::string chat_body(const std::string& script, const std::string& more) {
  return "{\"messages\":[{\"role\":\"user\",\"content\":\"" + script + "\"}]" + (more.empty() ? "" : "," + more) + "}";
}

}  // namespace infer::actors
