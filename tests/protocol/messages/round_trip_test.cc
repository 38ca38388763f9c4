// Every message survives CAF's binary serializer: all fields filled with different values, written, read, compared
// field by field. A field that an inspect function forgets comes back at its default and is found.
// Mirrors: requests.cc, type_ids.cc
// GCC's bounds analysis is wrong about CAF's buffers when everything is inlined.
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"

#include <gtest/gtest.h>

#include <boost/pfr/core.hpp>
#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <cmath>
#include <limits>
#include <type_traits>

#include "protocol/messages/type_ids.h"

namespace infer {
namespace {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
void fill(T& to, int& count) {
  ++count;
  if constexpr (std::is_same_v<T, bool>) {
    to = !to;
  } else if constexpr (std::is_enum_v<T>) {
    to = static_cast<T>(1);
  } else if constexpr (std::is_integral_v<T>) {
    to = static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(count));
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = "text " + std::to_string(count) + std::string("\0\xff", 2);
  } else if constexpr (std::is_same_v<T, msg::f32_bits>) {
    to.bits = 0x7F800001u + static_cast<std::uint32_t>(count);
  } else if constexpr (is_vector<T>) {
    to.resize(2);
    for (auto& item : to) fill(item, count);
  } else {
    boost::pfr::for_each_field(to, [&](auto& field) { fill(field, count); });
  }
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (is_vector<T>) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, msg::f32_bits>) {
    bool equal = true;
    boost::pfr::for_each_field(a, [&](const auto& field, auto index) {
      equal = equal && same(field, boost::pfr::get<decltype(index)::value>(b));
    });
    return equal;
  } else {
    return a == b;
  }
}

template <class T>
class RoundTrip : public testing::Test {
 protected:
  RoundTrip() : config_(), system_(prepared(config_)) {}

  std::vector<char> write(T value) {
    std::vector<char> bytes;
    caf::binary_serializer sink{system_, bytes};
    EXPECT_FALSE(sink(value));
    return bytes;
  }
  T read(const std::vector<char>& bytes) {
    T value{};
    caf::binary_deserializer source{system_, bytes};
    EXPECT_FALSE(source(value));
    EXPECT_EQ(source.remaining(), 0u);
    return value;
  }

 private:
  static caf::actor_system_config& prepared(caf::actor_system_config& config) {
    register_messages(config);
    config.set("scheduler.max-threads", 1);
    return config;
  }
  caf::actor_system_config config_;
  caf::actor_system system_;
};

using every_message =
    testing::Types<msg::stream_key, msg::acquire, msg::lease_granted, msg::lease_waiting, msg::lease_refused,
                   msg::release, msg::who_holds, msg::announce, msg::chat_message, msg::prompt, msg::encode_prompt,
                   msg::prompt_encoded, msg::prompt_refused, msg::decode_ids, msg::ids_decoded, msg::sampling,
                   msg::open_stream, msg::stream_opened, msg::stream_refused, msg::alternative, msg::token,
                   msg::tokens_made, msg::grant, msg::close_stream, msg::stream_closed, msg::stream_lost, msg::generate,
                   msg::request_accepted, msg::request_waiting, msg::request_started, msg::text_token, msg::text_made,
                   msg::choice_finished, msg::request_finished>;
using more_messages =
    testing::Types<msg::request_failed, msg::text_transformed, msg::taken, msg::cancel_request, msg::model_row,
                   msg::list_models, msg::load_model, msg::unload_model, msg::model_list, msg::model_changed,
                   msg::claim_memory, msg::claim_granted, msg::claim_waiting, msg::claim_refused, msg::cancel_claim,
                   msg::memory_freed, msg::model_source, msg::measure_model, msg::model_measured, msg::load_weights,
                   msg::load_progress, msg::model_loaded, msg::load_failed, msg::cancel_load, msg::start_model,
                   msg::model_started, msg::stop_model, msg::model_down, msg::stream_slot, msg::raw_token,
                   msg::raw_tokens, msg::decode_bound, msg::find_prefix, msg::prefix_found, msg::make_step,
                   msg::restart_child, msg::stop_children, msg::child_row, msg::report_children, msg::children_report>;

TYPED_TEST_SUITE(RoundTrip, every_message);

TYPED_TEST(RoundTrip, KeepsEveryField) {
  TypeParam value{};
  int count = 0;
  fill(value, count);
  EXPECT_FALSE(same(value, TypeParam{}));
  const std::vector<char> bytes = this->write(value);
  const TypeParam back = this->read(bytes);
  EXPECT_TRUE(same(value, back));
  EXPECT_EQ(this->write(back), bytes);
}

template <class T>
class MoreRoundTrip : public RoundTrip<T> {};
TYPED_TEST_SUITE(MoreRoundTrip, more_messages);

TYPED_TEST(MoreRoundTrip, KeepsEveryField) {
  TypeParam value{};
  int count = 0;
  fill(value, count);
  EXPECT_FALSE(same(value, TypeParam{}));
  const std::vector<char> bytes = this->write(value);
  const TypeParam back = this->read(bytes);
  EXPECT_TRUE(same(value, back));
  EXPECT_EQ(this->write(back), bytes);
}

TEST(RequestIds, AreNeverGivenTwice) {
  EXPECT_NE(msg::next_request_id(), msg::next_request_id());
}

using FloatRoundTrip = RoundTrip<msg::text_made>;

TEST_F(FloatRoundTrip, KeepsTheBitsOfEveryFloat) {
  const float values[] = {0.0f,
                          -0.0f,
                          1.5f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::denorm_min(),
                          -std::numeric_limits<float>::max()};
  msg::text_made made;
  for (const float value : values) made.tokens.push_back({1, "x", value, {{2, "y", value}}});
  const msg::text_made back = read(write(made));
  ASSERT_EQ(back.tokens.size(), made.tokens.size());
  for (std::size_t i = 0; i < made.tokens.size(); ++i) {
    EXPECT_EQ(back.tokens[i].logprob.bits, std::bit_cast<std::uint32_t>(values[i]));
    EXPECT_EQ(back.tokens[i].top[0].logprob.bits, std::bit_cast<std::uint32_t>(values[i]));
  }
}

}  // namespace
}  // namespace infer
