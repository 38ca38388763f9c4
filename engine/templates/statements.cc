// The statement half of the evaluator.
#include <utility>

#include "engine/templates/evaluator.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"

namespace infer::templates {

evaluator::evaluator(const program& of, std::vector<std::optional<value>> variables, const render_limits& limits,
                     const std::tm& now)
    : program_(of), services_{.spent = budget(limits), .now = now, .namespaces = {}}, variables_(std::move(variables)) {
  variables_.resize(program_.variables.size());
  enter_scope(program_.slots, nullptr);
}

evaluator::~evaluator() {
  // Values may point at each other through namespaces and macros' scopes: take all contents out first, then drop them.
  std::vector<value> dropped;
  for (const auto& names : services_.namespaces) {
    for (auto& [name, item] : names->names) dropped.push_back(std::move(item));
    names->names.clear();
  }
  for (const auto& weak : macro_scopes_) {
    const auto scope = weak.lock();
    if (!scope) continue;
    for (auto& slot : scope->slots) {
      if (slot) dropped.push_back(std::move(*slot));
    }
    scope->slots.clear();
  }
}

result<text> evaluator::run() {
  auto made = captured(program_.body);
  if (made) return std::move(made).value();
  error failed = made.error().get();
  if (failed.code != make_error_code(fault::raised))
    failed.detail = "line " + std::to_string(line_) + ": " + failed.detail;
  return fail(std::move(failed));
}

evaluated<void> evaluator::too_deep() const {
  return fail(fault::limit, "nested more than " + std::to_string(services_.spent.limits().depth) + " levels deep");
}

evaluated<text> evaluator::captured(const statements& body) {
  text made;
  text* outer = std::exchange(output_, &made);
  const auto ended = run_body(body);
  output_ = outer;
  if (!ended) return fail(ended.error());
  return made;
}

evaluated<evaluator::flow> evaluator::run_body(const statements& body) {
  if (depth_ >= services_.spent.limits().depth) return fail(too_deep().error());
  ++depth_;
  for (const auto& one : body) {
    auto ended = run_one(*one);
    if (!ended || ended.value() != flow::on) {
      --depth_;
      return ended;
    }
  }
  --depth_;
  return flow::on;
}

evaluated<void> evaluator::print(const value& what) {
  INFER_TRYV(services_.spent.spend_bytes(what.weight()));
  if (output_->size() + what.weight() > services_.spent.limits().output_bytes + 1) {
    return fail(fault::limit,
                "more than " + std::to_string(services_.spent.limits().output_bytes) + " bytes of output");
  }
  if (const text* string = what.as_text()) {
    output_->append(*string);
  } else {
    output_->append(to_text(what));
  }
  return success();
}

evaluated<evaluator::flow> evaluator::run_one(const statement& what) {
  INFER_TRYV(services_.spent.spend(1));
  line_ = what.line;
  switch (what.kind) {
    case statement_kind::data: {
      INFER_TRYV(print(what.constant));
      return flow::on;
    }
    case statement_kind::print: {
      value room;
      INFER_TRY(const value* made, look(*what.what, room));
      INFER_TRYV(print(*made));
      return flow::on;
    }
    case statement_kind::if_else:
      return run_if(&what);
    case statement_kind::for_each:
      return run_for(what);
    case statement_kind::set: {
      INFER_TRYV(run_set(what));
      return flow::on;
    }
    case statement_kind::set_block: {
      INFER_TRYV(run_set_block(what));
      return flow::on;
    }
    case statement_kind::macro:
      put(what.slots.own, value(macro_of(what)));
      return flow::on;
    case statement_kind::call_block: {
      INFER_TRYV(run_call_block(what));
      return flow::on;
    }
    case statement_kind::filter_block: {
      INFER_TRYV(run_filter_block(what));
      return flow::on;
    }
    case statement_kind::with:
      return run_with(what);
    case statement_kind::scope:
      return run_inner(what.body, what.slots.count);
    case statement_kind::break_loop:
      return flow::leave_loop;
    case statement_kind::continue_loop:
      return flow::next_round;
  }
  return flow::on;
}

evaluated<evaluator::flow> evaluator::run_if(const statement* what) {
  for (;;) {
    line_ = what->line;
    INFER_TRY(const bool condition, holds(*what->what));
    if (condition) return run_body(what->body);
    const bool chained = what->otherwise.size() == 1 && what->otherwise[0]->kind == statement_kind::if_else;
    if (!chained) return run_body(what->otherwise);
    what = what->otherwise[0].get();
  }
}

evaluated<std::shared_ptr<const sequence>> evaluator::loop_items(const statement& what) {
  value room;
  INFER_TRY(const value* over, look(*what.what, room));
  INFER_TRY(auto items, sequence_of(*over, services_.spent));
  if (!what.condition) return items;
  return chosen_items(what, *items);
}

// Those for which the condition of the loop holds.
evaluated<std::shared_ptr<const sequence>> evaluator::chosen_items(const statement& what, const sequence& items) {
  std::vector<value> kept;
  for (const value& item : items.items) {
    auto outer = enter_scope(what.slots.condition_count, scope_);
    auto assigned = assign(*what.target, item);
    auto condition = assigned ? holds(*what.condition) : evaluated<bool>(fail(assigned.error()));
    leave_scope(std::move(outer));
    INFER_TRY(const bool chosen, std::move(condition));
    if (chosen) kept.push_back(item);
  }
  return sequence_of(value::list(std::move(kept)), services_.spent);
}

evaluated<evaluator::flow> evaluator::run_for(const statement& what) {
  INFER_TRY(const auto items, loop_items(what));
  if (items->items.empty()) return run_inner(what.otherwise, what.slots.otherwise_count);
  auto outer = enter_scope(what.slots.count, scope_);
  auto ended = run_rounds(what, items);
  leave_scope(std::move(outer));
  return ended;
}

evaluated<evaluator::flow> evaluator::run_rounds(const statement& what, const std::shared_ptr<const sequence>& items) {
  std::shared_ptr<loop_state> loop;
  if (what.slots.loop != no_slot) {
    loop = std::make_shared<loop_state>();
    loop->items = items;
  }
  for (std::size_t index = 0; index < items->items.size(); ++index) {
    INFER_TRYV(services_.spent.spend(1));
    if (index > 0) renew_scope(what.slots.count);
    if (loop) {
      loop->index = index;
      put(what.slots.loop, value(std::shared_ptr<const loop_state>(loop)));
    }
    if (what.target->kind == expr_kind::name) {
      put(what.target->resolved.slot, items->items[index]);
    } else {
      INFER_TRYV(assign(*what.target, items->items[index]));
    }
    INFER_TRY(const flow ended, run_body(what.body));
    if (ended == flow::leave_loop) break;
  }
  return flow::on;
}

// A body in a scope of its own.
evaluated<evaluator::flow> evaluator::run_inner(const statements& body, std::uint32_t slots) {
  auto outer = enter_scope(slots, scope_);
  auto ended = run_body(body);
  leave_scope(std::move(outer));
  return ended;
}

evaluated<evaluator::flow> evaluator::run_with(const statement& what) {
  std::vector<value> items;
  for (const parameter& one : what.parameters) {
    INFER_TRY(auto item, evaluate(*one.otherwise));
    items.push_back(std::move(item));
  }
  auto outer = enter_scope(what.slots.count, scope_);
  for (std::size_t i = 0; i < items.size(); ++i) put(what.parameters[i].slot, std::move(items[i]));
  auto ended = run_body(what.body);
  leave_scope(std::move(outer));
  return ended;
}

evaluated<void> evaluator::run_set(const statement& what) {
  if (what.appends) {
    INFER_TRY(const bool done, append_to_target(what));
    if (done) return success();
  }
  INFER_TRY(auto item, evaluate(*what.what));
  return assign(*what.target, std::move(item));
}

// Where a target's value lies; null where it has none yet or cannot have one.
value* evaluator::target_of(const expression& target) {
  if (target.kind == expr_kind::name) {
    auto& slot = scope_->slots[target.resolved.slot];
    return slot ? &*slot : nullptr;
  }
  const value* owner = find_name(*target.children[0]);
  name_space* names = owner == nullptr ? nullptr : owner->as_namespace();
  return names == nullptr ? nullptr : names->find(target.name);
}

// `set a = a ~ b ~ …` and `set a = a + b`, a being a string: what follows a is put behind it, without a copy of a
// unless something else holds it too. False: nothing was done, since this is another case.
evaluated<bool> evaluator::append_to_target(const statement& what) {
  const value* target = target_of(*what.target);
  if (target == nullptr || target->as_text() == nullptr || target->as_text()->is_markup()) return false;
  value before = *target;
  const auto& parts = what.what->children;
  text added;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    value room;
    INFER_TRY(const value* part, look(*parts[i], room));
    INFER_TRYV(services_.spent.spend_bytes(added.size() + part->weight()));
    const text* string = part->as_text();
    const bool joins = what.what->kind == expr_kind::concat || (string != nullptr && !string->is_markup());
    if (!joins) {  // a sum of other things; its right side is known
      INFER_TRY(auto sum, arithmetic("+", before, *part, services_.spent));
      INFER_TRYV(assign(*what.target, std::move(sum)));
      return true;
    }
    added.append(string != nullptr ? *string : to_text(*part));
  }
  INFER_TRYV(services_.spent.allow_bytes(before.as_text()->size() + added.size()));
  value* now = target_of(*what.target);  // the parts may have assigned it
  if (now != nullptr && now->as_text() == before.as_text()) {
    before = value();
    if (text* sole = now->sole_text()) {
      sole->append(added);
      return true;
    }
    before = *now;
  }
  INFER_TRYV(services_.spent.spend_bytes(before.as_text()->size()));
  text made = *before.as_text();
  made.append(added);
  INFER_TRYV(assign(*what.target, value(std::move(made))));
  return true;
}

evaluated<void> evaluator::run_set_block(const statement& what) {
  auto outer = enter_scope(what.slots.count, scope_);
  auto body = captured(what.body);
  leave_scope(std::move(outer));
  INFER_TRYV(body);
  value item(std::move(body).value());
  if (!what.what) return assign(*what.target, std::move(item));
  const value* before = std::exchange(filter_input_, &item);
  auto made = evaluate(*what.what);
  filter_input_ = before;
  INFER_TRYV(made);
  return assign(*what.target, std::move(made).value());
}

evaluated<void> evaluator::run_filter_block(const statement& what) {
  INFER_TRY(auto body, captured(what.body));
  const value input(std::move(body));
  const value* outer = std::exchange(filter_input_, &input);
  auto made = evaluate(*what.what);
  filter_input_ = outer;
  INFER_TRYV(made);
  return print(made.value());
}

evaluated<void> evaluator::assign(const expression& target, value item) {
  if (target.kind == expr_kind::name) {
    put(target.resolved.slot, std::move(item));
    return success();
  }
  if (target.kind == expr_kind::attribute) {
    value room;
    INFER_TRY(const value* owner, look(*target.children[0], room));
    name_space* names = owner->as_namespace();
    if (names == nullptr) return fail(fault::evaluation, "cannot assign attribute on non-namespace object");
    names->put(target.name, std::move(item));
    return success();
  }
  INFER_TRY(const auto items, items_of(item, services_.spent));
  if (items.size() != target.children.size()) {
    return fail(fault::evaluation, "cannot unpack " + std::to_string(items.size()) + " value(s) into " +
                                       std::to_string(target.children.size()));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    INFER_TRYV(assign(*target.children[i], items[i]));
  }
  return success();
}

std::shared_ptr<const callable> evaluator::macro_of(const statement& what) {
  auto made = std::make_shared<callable>();
  made->what = callable::kind::macro;
  made->name = what.name;
  made->macro = &what;
  made->scope = scope_;
  macro_scopes_.push_back(scope_);
  return made;
}

evaluated<void> evaluator::run_call_block(const statement& what) {
  caller_ = value(macro_of(what));
  auto made = evaluate(*what.what);
  caller_.reset();
  INFER_TRYV(made);
  return print(made.value());
}

}  // namespace infer::templates
