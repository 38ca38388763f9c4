// All reference bodies and their table, included once per instruction set inside a namespace of its own. The includer
// provides the headers named in reference.cc and the macro INFER_TABLE_NAME.

#include "engine/kernels/reference/pointwise-inl.h"
//
#include "engine/kernels/reference/attention-inl.h"
#include "engine/kernels/reference/linear-inl.h"

inline constexpr op_table table{
    .name = INFER_TABLE_NAME,
    .embed_row = embed_row,
    .rms_norm = rms_norm,
    .layer_norm = layer_norm,
    .quantize_g32 = quantize_g32,
    .quantize_g256 = quantize_g256,
    .linear = linear,
    .angles = angles,
    .rope = rope,
    .store_kv = store_kv,
    .attention = attention,
    .silu_gate = silu_gate,
    .gelu_gate = gelu_gate,
    .gelu_erf_gate = gelu_erf_gate,
    .silu = silu,
    .gelu = gelu,
    .gelu_erf = gelu_erf,
    .add = add,
    .softcap = softcap,
};
