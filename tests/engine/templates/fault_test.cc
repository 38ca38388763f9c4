// Tests of: The sentences of the template faults.
#include "engine/templates/fault.h"

#include <gtest/gtest.h>

namespace infer::templates {
namespace {

TEST(template_fault, every_fault_has_a_sentence_of_its_own) {
  const std::error_code a = fault::syntax, b = fault::evaluation, c = fault::limit, d = fault::raised;
  EXPECT_NE(a.message(), b.message());
  EXPECT_NE(b.message(), c.message());
  EXPECT_NE(c.message(), d.message());
  EXPECT_STREQ(a.category().name(), "chat template");
}

}  // namespace
}  // namespace infer::templates
