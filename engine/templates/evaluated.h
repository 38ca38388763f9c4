// The result of a step of evaluation, small enough to be made and moved millions of times.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/core/result.h"

namespace infer::templates {

/// An error behind a pointer: a success carries no empty error along, and moving one is moving a pointer.
class evaluation_error {
 public:
  evaluation_error() = default;  // of a success; never read
  evaluation_error(error what) : what_(std::make_unique<const error>(std::move(what))) {}
  evaluation_error(const evaluation_error& other)
      : what_(other.what_ ? std::make_unique<const error>(*other.what_) : nullptr) {}
  evaluation_error(evaluation_error&&) noexcept = default;
  evaluation_error& operator=(const evaluation_error& other) { return *this = evaluation_error(other); }
  evaluation_error& operator=(evaluation_error&&) noexcept = default;
  ~evaluation_error() = default;

  const error& get() const { return *what_; }
  operator const error&() const { return *what_; }
  std::string message() const { return what_->message(); }
  const std::error_code& code() const { return what_->code; }

 private:
  std::unique_ptr<const error> what_;
};

/// A value or an error, as `result` is; INFER_TRY and fail() work with both and between them.
template <class T>
using evaluated =
    BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, evaluation_error, BOOST_OUTCOME_V2_NAMESPACE::policy::terminate>;

}  // namespace infer::templates
