// Names of the interfaces' message structs without CAF.
#pragma once

namespace infer::msg {
struct generate;
struct request_accepted;
struct text_made;
struct model_row;
struct model_list;
}  // namespace infer::msg
