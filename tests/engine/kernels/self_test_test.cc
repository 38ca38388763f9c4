// The self-test: whole tables pass, and whichever operation is broken is named.
#include "engine/kernels/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/quant/blocks.h"

namespace infer::kernels {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

TEST(SelfTest, EveryTableOfThisCpuPasses) {
  for (const op_table* ops : all_ops()) {
    const self_test_report report = self_test(*ops);
    EXPECT_EQ(report.table, ops->name);
    EXPECT_THAT(report.failures, testing::IsEmpty()) << ops->name;
    EXPECT_GT(report.checks, quant::supported_types.size() * 7);
  }
}

/// One unit in the last place more.
float off(float value) {
  return std::nextafter(value, std::numeric_limits<float>::infinity());
}

const op_table& right() {
  return best_ops();
}

struct broken {
  const char* name;  // how its failures begin
  std::function<void(op_table&)> damage;
};

std::vector<broken> broken_tables() {
  return {
      {"embed_row",
       [](op_table& t) {
         t.embed_row = [](const matrix_view& w, std::uint32_t row, float* out) {
           right().embed_row(w, row, out);
           out[w.columns - 1] = off(out[w.columns - 1]);
         };
       }},
      {"rms_norm",
       [](op_table& t) {
         t.rms_norm = [](const float* x, const float* w, float eps, std::uint32_t tokens, std::uint32_t width,
                         float* y) {
           right().rms_norm(x, w, eps, tokens, width, y);
           if (width == 7) y[6] = off(y[6]);
         };
       }},
      {"layer_norm",
       [](op_table& t) {
         t.layer_norm = [](const float* x, const float* w, const float* b, float eps, std::uint32_t tokens,
                           std::uint32_t width, float* y) {
           right().layer_norm(x, w, b, eps, tokens, width, y);
           if (width == 1100) y[2000] = off(y[2000]);
         };
       }},
      {"quantize_g32 codes",
       [](op_table& t) {
         t.quantize_g32 = [](const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out) {
           right().quantize_g32(x, tokens, width, out);
           if (width == 768) out.codes[500] += 1;
         };
       }},
      {"quantize_g256 sums",
       [](op_table& t) {
         t.quantize_g256 = [](const float* x, std::uint32_t tokens, std::uint32_t width, const quantized_rows& out) {
           right().quantize_g256(x, tokens, width, out);
           if (width == 768) out.sums[40] += 1;
         };
       }},
      {"angles",
       [](op_table& t) {
         t.angles = [](const angle_args& a) {
           right().angles(a);
           a.cosine[50] = off(a.cosine[50]);
         };
       }},
      {"rope",
       [](op_table& t) {
         t.rope = [](const rope_args& a) {
           right().rope(a);
           a.x[68] = off(a.x[68]);  // behind the turned part
         };
       }},
      {"store_kv",
       [](op_table& t) {
         t.store_kv = [](const store_args& a) {
           right().store_kv(a);
           a.kv.pages[2][8] ^= std::byte{1};
         };
       }},
      {"attention",
       [](op_table& t) {
         t.attention = [](const attention_args& a) {
           right().attention(a);
           if (a.window == 40 && a.softcap > 0) a.out[74 * 6 * 20] = off(a.out[74 * 6 * 20]);
         };
       }},
      {"silu_gate",
       [](op_table& t) {
         t.silu_gate = [](const float* a, const float* b, std::size_t count, float* out) {
           right().silu_gate(a, b, count, out);
           out[1] = 0.0f;  // −0 times a number keeps its sign
         };
       }},
      {"gelu_gate",
       [](op_table& t) {
         t.gelu_gate = [](const float* a, const float* b, std::size_t count, float* out) {
           right().gelu_gate(a, b, count, out);
           out[count - 1] = off(out[count - 1]);
         };
       }},
      {"gelu_erf_gate",
       [](op_table& t) {
         t.gelu_erf_gate = [](const float* a, const float* b, std::size_t count, float* out) {
           right().gelu_gate(a, b, count, out);
         };
       }},
      {"silu:",
       [](op_table& t) {
         t.silu = [](const float* x, std::size_t count, float* out) { right().silu(x + 1, count - 1, out + 1); };
       }},
      {"gelu:",
       [](op_table& t) {
         t.gelu = [](const float* x, std::size_t count, float* out) { right().gelu(x, count - 1, out); };
       }},
      {"gelu_erf:",
       [](op_table& t) {
         t.gelu_erf = [](const float* x, std::size_t count, float* out) { right().gelu(x, count, out); };
       }},
      {"add",
       [](op_table& t) {
         t.add = [](const float* a, const float* b, std::size_t count, float* out) {
           for (std::size_t i = 0; i < count; ++i) out[i] = a[i] - b[i];
         };
       }},
      {"softcap", [](op_table& t) { t.softcap = [](float*, std::size_t, float) {}; }},
  };
}

TEST(SelfTest, NamesTheOperationThatIsBroken) {
  const std::uint32_t checks = self_test(right()).checks;
  for (const broken& one : broken_tables()) {
    op_table table = right();
    table.name = "broken";
    one.damage(table);
    const self_test_report report = self_test(table);
    EXPECT_FALSE(report.passed()) << one.name;
    EXPECT_EQ(report.table, "broken");
    EXPECT_THAT(report.failures, Each(StartsWith(one.name)));
    EXPECT_EQ(report.checks, checks);
  }
}

/// Whose linear operation is wrong in one bit of one value.
tensor_type broken_type;
bool broken_quantized;
std::uint32_t broken_tokens;

void broken_linear(const linear_args& a, row_range rows) {
  right().linear(a, rows);
  const bool chosen = a.w.type == broken_type && (a.q != nullptr) == broken_quantized && a.tokens == broken_tokens;
  if (chosen && rows.end == a.w.rows) a.y[a.tokens * a.w.rows - 1] = off(a.y[a.tokens * a.w.rows - 1]);
}

TEST(SelfTest, NamesTheTypeAndTheRuleThatIsBroken) {
  op_table table = right();
  table.linear = broken_linear;
  for (const tensor_type type : {tensor_type::bf16, tensor_type::q4_1, tensor_type::q6_k, tensor_type::mxfp4}) {
    for (const bool quantized : {false, true}) {
      if (quantized && quant::form_of(type) == quant::canonical_form::floating) continue;
      broken_type = type;
      broken_quantized = quantized;
      broken_tokens = quantized ? 40 : 1;
      const std::string name(info_of(type).name);
      EXPECT_THAT(self_test(table).failures, testing::AllOf(Contains(StartsWith("linear " + name + ", 512 columns, ")),
                                                            Each(HasSubstr("linear " + name + ", ")),
                                                            Each(HasSubstr(quantized ? ", quantized" : ", f32"))))
          << name;
    }
  }
}

}  // namespace
}  // namespace infer::kernels
