// The one result and error type of the project. Fault enums live beside the module that raises them.
#pragma once

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/try.hpp>
#include <concepts>
#include <string>
#include <system_error>
#include <utility>

namespace infer {

/// What went wrong: a code that programs compare and a sentence that people read. `detail` names the place and what to
/// do about it; where it is empty the code's own message is all there is.
struct error {
  std::error_code code;
  std::string detail;

  /// The sentence to show: `detail`, or the code's message where there is none.
  std::string message() const { return detail.empty() ? code.message() : detail; }
};

/// A value or an error. Reading the one that is absent is a bug and ends the process.
template <class T>
using result = BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, error, BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

template <class Fault>
concept fault_enum = std::is_error_code_enum<Fault>::value;

/// `return fail(fault::truncated, "…")` in any function that returns a `result`.
template <fault_enum Fault>
[[nodiscard]] auto fail(Fault fault, std::string detail = {}) {
  return BOOST_OUTCOME_V2_NAMESPACE::failure(error{make_error_code(fault), std::move(detail)});
}

/// Passes an error on.
[[nodiscard]] inline auto fail(error e) {
  return BOOST_OUTCOME_V2_NAMESPACE::failure(std::move(e));
}

/// The value of a `result<void>` that succeeded.
inline auto success() {
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace infer

// INFER_TRY(auto x, expression) binds the value or returns the error; INFER_TRYV(expression) drops the value.
#define INFER_TRY(...) BOOST_OUTCOME_TRY(__VA_ARGS__)
#define INFER_TRYV(...) BOOST_OUTCOME_TRYV(__VA_ARGS__)

// Declares the error category of a fault enum; the module defines `fault_sentence(fault)` in its source.
// Use once at namespace infer level, after the enum: INFER_FAULT_ENUM(infer::formats, fault, "formats")
#define INFER_FAULT_ENUM(ns, enum_name, category_name)                \
  namespace ns {                                                      \
  const char* fault_sentence(enum_name value) noexcept;               \
  inline const std::error_category& enum_name##_category() noexcept { \
    struct category final : std::error_category {                     \
      const char* name() const noexcept override {                    \
        return category_name;                                         \
      }                                                               \
      std::string message(int value) const override {                 \
        return fault_sentence(static_cast<enum_name>(value));         \
      }                                                               \
    };                                                                \
    static const category instance;                                   \
    return instance;                                                  \
  }                                                                   \
  inline std::error_code make_error_code(enum_name value) noexcept {  \
    return {static_cast<int>(value), enum_name##_category()};         \
  }                                                                   \
  }                                                                   \
  template <>                                                         \
  struct std::is_error_code_enum<ns::enum_name> : std::true_type {}
