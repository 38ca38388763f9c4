// Tests of: The sentences of the tokenizer faults.
#include "engine/tokenize/fault.h"

#include <gtest/gtest.h>

namespace infer::tokenize {
namespace {

TEST(tokenize_fault, every_fault_has_a_sentence_of_its_own) {
  const std::error_code a = fault::unknown_model, b = fault::unknown_pre_tokenizer, c = fault::malformed,
                        d = fault::unsupported;
  EXPECT_NE(a.message(), b.message());
  EXPECT_NE(b.message(), c.message());
  EXPECT_NE(c.message(), d.message());
  EXPECT_STREQ(a.category().name(), "tokenizer");
}

}  // namespace
}  // namespace infer::tokenize
