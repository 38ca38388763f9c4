// The expression half of the evaluator: what makes values. Where values only need to be found: look_through.cc.
#include "engine/templates/evaluator.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"

namespace infer::templates {
namespace {

// Whether the result of this kind is newly made, so that its size has to be paid for.
bool makes_values(const expression& what) {
  switch (what.kind) {
    case expr_kind::list:
    case expr_kind::tuple:
    case expr_kind::dict:
    case expr_kind::binary:
    case expr_kind::concat:
    case expr_kind::filter:
    case expr_kind::call:
      return true;
    case expr_kind::subscript:
      return what.children[1]->kind == expr_kind::slice;
    default:
      return false;
  }
}

void append_text(text& made, const value& part) {
  if (const text* string = part.as_text()) {
    made.append(*string);
  } else {
    made.append(to_text(part));
  }
}

}  // namespace

evaluated<value> evaluator::evaluate(const expression& what) {
  if (const value* found = peek(what)) return *found;
  return make(what);
}

evaluated<value> evaluator::make(const expression& what) {
  INFER_TRYV(go_deeper());
  auto made = compute(what);
  --depth_;
  if (made && makes_values(what)) {
    INFER_TRYV(services_.spent.accept(made.value()));
  }
  return made;
}

evaluated<value> evaluator::compute(const expression& what) {
  switch (what.kind) {
    case expr_kind::constant:
      return what.constant;
    case expr_kind::name:
      return evaluate_name(what);
    case expr_kind::attribute: {
      value room;
      INFER_TRY(const value* of, look(*what.children[0], room));
      return get_attribute(*of, *what.resolved.named);
    }
    case expr_kind::subscript:
      return what.children[1]->kind == expr_kind::slice ? evaluate_slice(what) : evaluate_subscript(what);
    case expr_kind::call:
      return evaluate_call(what);
    case expr_kind::filter:
      return evaluate_filter(what);
    case expr_kind::test:
    case expr_kind::compare:
    case expr_kind::logical_not: {
      INFER_TRY(const bool holds, decide(what));
      return value(holds);
    }
    case expr_kind::binary:
      return evaluate_binary(what);
    default:
      return compute_composite(what);
  }
}

evaluated<value> evaluator::compute_composite(const expression& what) {
  switch (what.kind) {
    case expr_kind::list:
    case expr_kind::tuple:
      return evaluate_list(what);
    case expr_kind::dict:
      return evaluate_dictionary(what);
    case expr_kind::logical_and:
    case expr_kind::logical_or:
      return evaluate_logic(what);
    case expr_kind::negate: {
      INFER_TRY(const value of, evaluate(*what.children[0]));
      return negated(of);
    }
    case expr_kind::positive: {
      INFER_TRY(const value of, evaluate(*what.children[0]));
      if (of.as_number()) return of;
      return fail(fault::evaluation, "bad operand type for unary +: '" + std::string(type_name(of)) + "'");
    }
    case expr_kind::concat:
      return evaluate_concat(what);
    case expr_kind::conditional:
      return evaluate_conditional(what);
    default:
      return fail(fault::evaluation, "a slice outside of a subscript");
  }
}

evaluated<value> evaluator::evaluate_name(const expression& what) {
  if (const value* found = find_name(what)) return *found;
  if (what.resolved.name->global == nullptr) return value::undefined(what.resolved.name->absent);
  auto function = std::make_shared<callable>();
  function->name = what.name;
  return value(std::shared_ptr<const callable>(std::move(function)));
}

evaluated<value> evaluator::evaluate_list(const expression& what) {
  std::vector<value> items;
  items.reserve(what.children.size());
  for (const auto& child : what.children) {
    INFER_TRY(auto item, evaluate(*child));
    items.push_back(std::move(item));
  }
  return value::make(what.kind == expr_kind::list ? sequence_kind::list : sequence_kind::tuple, std::move(items));
}

evaluated<value> evaluator::evaluate_dictionary(const expression& what) {
  auto made = std::make_shared<dictionary>();
  for (std::size_t i = 0; i < what.children.size(); i += 2) {
    INFER_TRY(auto key, evaluate(*what.children[i]));
    INFER_TRY(auto item, evaluate(*what.children[i + 1]));
    const std::string type(type_name(key));
    if (!made->put(std::move(key), std::move(item))) return fail(fault::evaluation, "unhashable type: '" + type + "'");
  }
  return value(std::shared_ptr<const dictionary>(std::move(made)));
}

evaluated<value> evaluator::evaluate_logic(const expression& what) {
  INFER_TRY(auto left, evaluate(*what.children[0]));
  if (is_true(left) == (what.kind == expr_kind::logical_or)) return left;
  return evaluate(*what.children[1]);
}

evaluated<value> evaluator::evaluate_binary(const expression& what) {
  operands of;
  INFER_TRYV(look_at_both(*what.children[0], *what.children[1], of));
  // A sum that only this chain of sums holds grows in place.
  if (what.name == "+" && of.left == &of.left_room && of.right->as_text() != nullptr) {
    text* sum = of.left_room.sole_text();
    const text& added = *of.right->as_text();
    if (sum != nullptr && !sum->is_markup() && !added.is_markup()) {
      INFER_TRYV(services_.spent.spend_bytes(sum->size() + added.size()));
      sum->append(added);
      return std::move(of.left_room);
    }
  }
  return arithmetic(what.name, *of.left, *of.right, services_.spent);
}

evaluated<value> evaluator::evaluate_concat(const expression& what) {
  text made;
  for (const auto& child : what.children) {
    value room;
    INFER_TRY(const value* part, look(*child, room));
    INFER_TRYV(services_.spent.spend_bytes(made.size() + part->weight()));
    append_text(made, *part);
  }
  return value(std::move(made));
}

evaluated<value> evaluator::evaluate_conditional(const expression& what) {
  INFER_TRY(const bool condition, holds(*what.children[0]));
  if (condition) return evaluate(*what.children[1]);
  if (what.children[2]) return evaluate(*what.children[2]);
  return value::undefined("the inline if-expression on line " + std::to_string(what.line) +
                          " evaluated to false and no else section was defined.");
}

evaluated<value> evaluator::evaluate_filter(const expression& what) {
  value room;
  const value* input = filter_input_ != nullptr ? filter_input_ : &room;
  if (what.children[0]) {
    INFER_TRY(input, look(*what.children[0], room));
  }
  call_arguments made;
  if (!what.resolved.arguments && input != &room) {
    room = *input;  // the arguments may assign what it points at
    input = &room;
  }
  INFER_TRY(const call_arguments* args, evaluate_arguments(what, made));
  if (what.resolved.filter != nullptr) return apply_filter(services_, *what.resolved.filter, *input, *args);
  return apply_filter(services_, what.name, *input, *args);
}

evaluated<value> evaluator::evaluate_subscript(const expression& what) {
  operands of;
  INFER_TRYV(look_at_both(*what.children[0], *what.children[1], of));
  if (const text* string = of.left->as_text()) {
    INFER_TRYV(services_.spent.spend_bytes(string->size()));
  }
  if (what.resolved.named) return get_item(*of.left, *what.resolved.named);
  return get_item(*of.left, *of.right);
}

evaluated<value> evaluator::evaluate_slice(const expression& what) {
  INFER_TRY(const value of, evaluate(*what.children[0]));
  const expression& index = *what.children[1];
  slice_bounds bounds;
  std::optional<std::int64_t>* const parts[] = {&bounds.start, &bounds.stop, &bounds.step};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!index.children[i]) continue;
    INFER_TRY(const value bound, evaluate(*index.children[i]));
    if (bound.is_none()) continue;
    *parts[i] = bound.as_integer();
    if (!*parts[i]) return fail(fault::evaluation, "slice indices must be integers or None");
  }
  INFER_TRYV(services_.spent.spend_bytes(8 * of.own_bytes()));
  return slice(of, bounds);
}

}  // namespace infer::templates
