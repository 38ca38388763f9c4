// The expression half of the evaluator.
#include "engine/templates/evaluator.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"

namespace infer::templates {
namespace {

// Whether the result of this kind is newly made, so that its size has to be paid for.
bool makes_values(expr_kind kind) {
  switch (kind) {
    case expr_kind::list:
    case expr_kind::tuple:
    case expr_kind::dict:
    case expr_kind::binary:
    case expr_kind::concat:
    case expr_kind::filter:
    case expr_kind::call:
    case expr_kind::subscript:
      return true;
    default:
      return false;
  }
}

}  // namespace

result<value> evaluator::evaluate(const expression& what) {
  INFER_TRYV(services_.spent.spend(1));
  const auto most = services_.spent.limits().depth;
  if (depth_ >= most) return fail(fault::limit, "nested more than " + std::to_string(most) + " levels deep");
  ++depth_;
  auto made = compute(what);
  --depth_;
  if (!made) return made;
  const bool looked_up = what.kind == expr_kind::subscript && what.children[1]->kind != expr_kind::slice;
  if (makes_values(what.kind) && !looked_up) {
    INFER_TRYV(services_.spent.accept(made.value()));
  }
  return made;
}

result<value> evaluator::compute(const expression& what) {
  switch (what.kind) {
    case expr_kind::constant:
      return what.constant;
    case expr_kind::name:
      return evaluate_name(what);
    case expr_kind::attribute: {
      INFER_TRY(const value of, evaluate(*what.children[0]));
      return get_attribute(of, what.name);
    }
    case expr_kind::subscript:
      return evaluate_subscript(what);
    case expr_kind::call:
      return evaluate_call(what);
    case expr_kind::filter:
      return evaluate_filter(what);
    case expr_kind::test:
      return evaluate_test(what);
    case expr_kind::compare:
      return evaluate_compare(what);
    case expr_kind::binary: {
      INFER_TRY(const value left, evaluate(*what.children[0]));
      INFER_TRY(const value right, evaluate(*what.children[1]));
      return arithmetic(what.name, left, right, services_.spent);
    }
    default:
      return compute_composite(what);
  }
}

result<value> evaluator::compute_composite(const expression& what) {
  switch (what.kind) {
    case expr_kind::list:
    case expr_kind::tuple:
      return evaluate_list(what);
    case expr_kind::dict:
      return evaluate_dictionary(what);
    case expr_kind::logical_and:
    case expr_kind::logical_or:
      return evaluate_logic(what);
    case expr_kind::logical_not: {
      INFER_TRY(const value of, evaluate(*what.children[0]));
      return value(!is_true(of));
    }
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

result<value> evaluator::evaluate_name(const expression& what) {
  for (const frame* at = scope_.get(); at != nullptr; at = at->parent.get()) {
    if (const value* found = at->find(what.name)) return *found;
  }
  if (const auto found = variables_.find(what.name); found != variables_.end()) return found->second;
  if (has_global(what.name)) {
    auto function = std::make_shared<callable>();
    function->name = what.name;
    return value(std::shared_ptr<const callable>(std::move(function)));
  }
  return value::undefined("'" + what.name + "' is undefined");
}

result<value> evaluator::evaluate_list(const expression& what) {
  std::vector<value> items;
  items.reserve(what.children.size());
  for (const auto& child : what.children) {
    INFER_TRY(auto item, evaluate(*child));
    items.push_back(std::move(item));
  }
  return value::make(what.kind == expr_kind::list ? sequence_kind::list : sequence_kind::tuple, std::move(items));
}

result<value> evaluator::evaluate_dictionary(const expression& what) {
  auto made = std::make_shared<dictionary>();
  for (std::size_t i = 0; i < what.children.size(); i += 2) {
    INFER_TRY(auto key, evaluate(*what.children[i]));
    INFER_TRY(auto item, evaluate(*what.children[i + 1]));
    const std::string type(type_name(key));
    if (!made->put(std::move(key), std::move(item))) return fail(fault::evaluation, "unhashable type: '" + type + "'");
  }
  return value(std::shared_ptr<const dictionary>(std::move(made)));
}

result<value> evaluator::evaluate_logic(const expression& what) {
  INFER_TRY(auto left, evaluate(*what.children[0]));
  if (is_true(left) == (what.kind == expr_kind::logical_or)) return left;
  return evaluate(*what.children[1]);
}

result<value> evaluator::evaluate_concat(const expression& what) {
  text made;
  for (const auto& child : what.children) {
    INFER_TRY(const value part, evaluate(*child));
    INFER_TRYV(services_.spent.spend_bytes(made.size() + part.weight()));
    made.append(to_text(part));
  }
  return value(std::move(made));
}

result<value> evaluator::evaluate_compare(const expression& what) {
  INFER_TRY(auto left, evaluate(*what.children[0]));
  for (std::size_t i = 0; i < what.ops.size(); ++i) {
    INFER_TRY(auto right, evaluate(*what.children[i + 1]));
    INFER_TRYV(services_.spent.spend_bytes(comparison_cost(what.ops[i], left, right)));
    INFER_TRY(const bool holds, compare(what.ops[i], left, right));
    if (!holds) return value(false);
    left = std::move(right);
  }
  return value(true);
}

result<value> evaluator::evaluate_conditional(const expression& what) {
  INFER_TRY(const value condition, evaluate(*what.children[0]));
  if (is_true(condition)) return evaluate(*what.children[1]);
  if (what.children[2]) return evaluate(*what.children[2]);
  return value::undefined("the inline if-expression on line " + std::to_string(what.line) +
                          " evaluated to false and no else section was defined.");
}

result<value> evaluator::evaluate_filter(const expression& what) {
  value input;
  if (what.children[0]) {
    INFER_TRY(input, evaluate(*what.children[0]));
  } else if (filter_input_ != nullptr) {
    input = *filter_input_;
  }
  INFER_TRY(const auto args, evaluate_arguments(what));
  return apply_filter(services_, what.name, input, args);
}

result<value> evaluator::evaluate_test(const expression& what) {
  INFER_TRY(const value input, evaluate(*what.children[0]));
  INFER_TRY(const auto args, evaluate_arguments(what));
  INFER_TRY(const bool holds, apply_test(services_, what.name, input, args));
  return value(holds);
}

result<value> evaluator::evaluate_subscript(const expression& what) {
  INFER_TRY(const value of, evaluate(*what.children[0]));
  const expression& index = *what.children[1];
  if (index.kind != expr_kind::slice) {
    INFER_TRY(const value at, evaluate(index));
    if (const text* string = of.as_text()) {
      INFER_TRYV(services_.spent.spend_bytes(string->size()));
    }
    return get_item(of, at);
  }
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

result<call_arguments> evaluator::evaluate_arguments(const expression& what) {
  call_arguments args;
  for (const argument& one : what.arguments) {
    INFER_TRY(auto item, evaluate(*one.what));
    if (one.name.empty()) {
      args.positional.push_back(std::move(item));
    } else if (one.name == "*") {
      INFER_TRY(auto items, items_of(item, services_.spent));
      args.positional.insert(args.positional.end(), items.begin(), items.end());
    } else if (one.name == "**") {
      const dictionary* names = item.as_dictionary();
      if (names == nullptr) return fail(fault::evaluation, "argument after ** must be a mapping");
      for (const auto& [key, named] : names->entries) args.named.emplace_back(to_text(key).view(), named);
    } else {
      args.named.emplace_back(one.name, std::move(item));
    }
  }
  return args;
}

result<value> evaluator::evaluate_call(const expression& what) {
  auto caller = std::exchange(caller_, std::nullopt);  // belongs to this call alone, not to those in its arguments
  INFER_TRY(const value callee, evaluate(*what.children[0]));
  INFER_TRY(auto args, evaluate_arguments(what));
  if (caller) args.named.emplace_back("caller", std::move(*caller));
  return call(callee, args);
}

result<value> evaluator::call(const value& callee, const call_arguments& args) {
  if (callee.is_undefined()) return fail(undefined_error(callee));
  const callable* function = callee.as_callable();
  if (function == nullptr)
    return fail(fault::evaluation, "'" + std::string(type_name(callee)) + "' object is not callable");
  switch (function->what) {
    case callable::kind::macro:
      return call_macro(*function, args);
    case callable::kind::method:
      return call_method(services_, function->self, function->name, args);
    case callable::kind::global:
      break;
  }
  return call_global(services_, function->name, args);
}

result<value> evaluator::call_macro(const callable& macro, const call_arguments& args) {
  auto inner = std::make_shared<frame>();
  inner->parent = macro.scope;
  auto outer = std::exchange(scope_, std::move(inner));
  const std::uint32_t line = line_;
  auto bound = bind_parameters(macro, args);
  result<text> made = bound ? captured(macro.macro->body) : result<text>(fail(bound.error()));
  scope_ = std::move(outer);
  if (!made) return fail(std::move(made).error());
  line_ = line;
  return value(std::move(made).value());
}

result<void> evaluator::bind_parameters(const callable& macro, const call_arguments& args) {
  const auto& parameters = macro.macro->parameters;
  std::vector<bool> used(args.named.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const parameter& one = parameters[i];
    value item = value::undefined("parameter '" + one.name + "' was not provided");
    bool given = i < args.positional.size();
    if (given) item = args.positional[i];
    for (std::size_t k = 0; k < args.named.size(); ++k) {
      if (args.named[k].first != one.name) continue;
      if (given) return fail(fault::evaluation, "macro '" + macro.name + "' got two values for '" + one.name + "'");
      item = args.named[k].second;
      given = used[k] = true;
    }
    if (!given && one.otherwise) {
      INFER_TRY(item, evaluate(*one.otherwise));
    }
    scope_->put(one.name, std::move(item));
  }
  std::vector<value> more_positional;
  for (std::size_t i = parameters.size(); i < args.positional.size(); ++i)
    more_positional.push_back(args.positional[i]);
  auto more_named = std::make_shared<dictionary>();
  for (std::size_t k = 0; k < args.named.size(); ++k) {
    if (used[k]) continue;
    if (args.named[k].first == "caller") {
      scope_->put("caller", args.named[k].second);
    } else {
      more_named->put(value(text(args.named[k].first, true)), args.named[k].second);
    }
  }
  if (!more_positional.empty() && !macro.macro->takes_varargs) {
    return fail(fault::evaluation,
                "macro '" + macro.name + "' takes not more than " + std::to_string(parameters.size()) + " argument(s)");
  }
  if (!more_named->entries.empty() && !macro.macro->takes_kwargs) {
    return fail(fault::evaluation, "macro '" + macro.name + "' takes no keyword argument '" +
                                       std::string(to_text(more_named->entries[0].first).view()) + "'");
  }
  if (macro.macro->takes_varargs) scope_->put("varargs", value::tuple(std::move(more_positional)));
  if (macro.macro->takes_kwargs) scope_->put("kwargs", value(std::shared_ptr<const dictionary>(std::move(more_named))));
  return success();
}

}  // namespace infer::templates
