// Expressions that need no new value: conditions, and names, attributes and items where they lie.
#include "engine/templates/evaluator.h"
#include "engine/templates/operations.h"

namespace infer::templates {

// Null where the value has to be made, and where there is an error to be found.
const value* evaluator::peek(const expression& what) {
  switch (what.kind) {
    case expr_kind::constant:
      return services_.spent.try_spend(1) ? &what.constant : nullptr;
    case expr_kind::name:
      return services_.spent.try_spend(1) ? find_name(what) : nullptr;
    case expr_kind::attribute:
    case expr_kind::subscript:
      return peek_item(what);
    default:
      return nullptr;
  }
}

const value* evaluator::peek_item(const expression& what) {
  if (depth_ >= services_.spent.limits().depth || !services_.spent.try_spend(1)) return nullptr;
  ++depth_;
  const value* found = nullptr;
  if (const value* of = peek(*what.children[0])) {
    if (what.kind == expr_kind::attribute) {
      found = held_attribute(*of, *what.resolved.named);
    } else if (what.resolved.named) {
      found = held_item(*of, *what.resolved.named);
    } else if (const value* index = peek(*what.children[1])) {
      found = held_item(*of, *index);
    }
  }
  --depth_;
  return found;
}

evaluated<const value*> evaluator::look(const expression& what, value& room) {
  if (const value* found = peek(what)) return found;
  INFER_TRY(room, make(what));
  return &room;
}

evaluated<void> evaluator::look_at_both(const expression& left, const expression& right, operands& into) {
  INFER_TRY(into.left, look(left, into.left_room));
  into.right = peek(right);
  if (into.right != nullptr) return success();
  if (into.left != &into.left_room) {
    into.left_room = *into.left;
    into.left = &into.left_room;
  }
  INFER_TRY(into.right_room, make(right));
  into.right = &into.right_room;
  return success();
}

evaluated<bool> evaluator::holds(const expression& what) {
  switch (what.kind) {
    case expr_kind::logical_not:
    case expr_kind::logical_and:
    case expr_kind::logical_or:
    case expr_kind::compare:
    case expr_kind::test: {
      INFER_TRYV(go_deeper());
      auto decided = decide(what);
      --depth_;
      return decided;
    }
    default: {
      value room;
      INFER_TRY(const value* found, look(what, room));
      return is_true(*found);
    }
  }
}

evaluated<bool> evaluator::decide(const expression& what) {
  switch (what.kind) {
    case expr_kind::logical_not: {
      INFER_TRY(const bool inner, holds(*what.children[0]));
      return !inner;
    }
    case expr_kind::logical_and:
    case expr_kind::logical_or: {
      INFER_TRY(const bool left, holds(*what.children[0]));
      if (left == (what.kind == expr_kind::logical_or)) return left;
      return holds(*what.children[1]);
    }
    case expr_kind::test:
      return decide_test(what);
    default:
      return decide_compare(what);
  }
}

evaluated<bool> evaluator::decide_compare(const expression& what) {
  operands of;
  INFER_TRYV(look_at_both(*what.children[0], *what.children[1], of));
  for (std::size_t i = 0;;) {
    INFER_TRYV(services_.spent.spend_bytes(comparison_cost(what.ops[i], *of.left, *of.right)));
    INFER_TRY(const bool holds, compare(what.ops[i], *of.left, *of.right));
    if (!holds || ++i == what.ops.size()) return holds;
    value left = *of.right;
    INFER_TRY(of.right_room, evaluate(*what.children[i + 1]));
    of.left_room = std::move(left);
    of.left = &of.left_room;
    of.right = &of.right_room;
  }
}

evaluated<bool> evaluator::decide_test(const expression& what) {
  value room;
  INFER_TRY(const value* input, look(*what.children[0], room));
  if (!what.resolved.arguments && input != &room) {
    room = *input;  // the arguments may assign what it points at
    input = &room;
  }
  call_arguments made;
  INFER_TRY(const call_arguments* args, evaluate_arguments(what, made));
  if (what.resolved.test != nullptr) return apply_test(services_, *what.resolved.test, *input, *args);
  return apply_test(services_, what.name, *input, *args);
}

}  // namespace infer::templates
