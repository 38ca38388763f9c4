// The statement half of the evaluator.
#include <utility>

#include "engine/templates/evaluator.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"

namespace infer::templates {

const value* frame::find(std::string_view name) const {
  for (const auto& [known, item] : names) {
    if (known == name) return &item;
  }
  return nullptr;
}

void frame::put(std::string_view name, value item) {
  for (auto& [known, old] : names) {
    if (known == name) {
      old = std::move(item);
      return;
    }
  }
  names.emplace_back(name, std::move(item));
}

evaluator::evaluator(std::unordered_map<std::string, value> variables, const render_limits& limits, const std::tm& now)
    : services_{.spent = budget(limits), .now = now, .namespaces = {}},
      variables_(std::move(variables)),
      scope_(std::make_shared<frame>()) {}

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
    for (auto& [name, item] : scope->names) dropped.push_back(std::move(item));
    scope->names.clear();
  }
}

result<text> evaluator::run(const statements& root) {
  auto made = captured(root);
  if (made) return made;
  error failed = std::move(made).error();
  if (failed.code != make_error_code(fault::raised))
    failed.detail = "line " + std::to_string(line_) + ": " + failed.detail;
  return fail(std::move(failed));
}

result<text> evaluator::captured(const statements& body) {
  text made;
  text* outer = std::exchange(output_, &made);
  const auto ended = run_body(body);
  output_ = outer;
  if (!ended) return fail(ended.error());
  return made;
}

result<evaluator::flow> evaluator::run_body(const statements& body) {
  const auto most = services_.spent.limits().depth;
  if (depth_ >= most) return fail(fault::limit, "nested more than " + std::to_string(most) + " levels deep");
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

result<void> evaluator::print(const value& what) {
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

result<evaluator::flow> evaluator::run_one(const statement& what) {
  INFER_TRYV(services_.spent.spend(1));
  line_ = what.line;
  switch (what.kind) {
    case statement_kind::data: {
      INFER_TRYV(print(what.constant));
      return flow::on;
    }
    case statement_kind::print: {
      INFER_TRY(const value made, evaluate(*what.what));
      INFER_TRYV(print(made));
      return flow::on;
    }
    case statement_kind::if_else:
      return run_if(&what);
    case statement_kind::for_each:
      return run_for(what);
    case statement_kind::set:
    case statement_kind::set_block: {
      INFER_TRYV(run_set(what));
      return flow::on;
    }
    case statement_kind::macro:
      define_macro(what);
      return flow::on;
    case statement_kind::call_block: {
      INFER_TRYV(run_call_block(what));
      return flow::on;
    }
    case statement_kind::filter_block: {
      INFER_TRY(auto body, captured(what.body));
      const value input(std::move(body));
      const value* outer = std::exchange(filter_input_, &input);
      auto made = evaluate(*what.what);
      filter_input_ = outer;
      INFER_TRYV(made);
      INFER_TRYV(print(made.value()));
      return flow::on;
    }
    case statement_kind::with:
    case statement_kind::scope:
      return run_with(what);
    case statement_kind::break_loop:
      return flow::leave_loop;
    case statement_kind::continue_loop:
      return flow::next_round;
  }
  return flow::on;
}

result<evaluator::flow> evaluator::run_if(const statement* what) {
  for (;;) {
    line_ = what->line;
    INFER_TRY(const value condition, evaluate(*what->what));
    if (is_true(condition)) return run_body(what->body);
    const bool chained = what->otherwise.size() == 1 && what->otherwise[0]->kind == statement_kind::if_else;
    if (!chained) return run_body(what->otherwise);
    what = what->otherwise[0].get();
  }
}

result<std::shared_ptr<const sequence>> evaluator::loop_items(const statement& what) {
  INFER_TRY(const value over, evaluate(*what.what));
  INFER_TRY(auto items, sequence_of(over, services_.spent));
  if (!what.condition) return items;
  std::vector<value> kept;
  for (const value& item : items->items) {
    auto inner = std::make_shared<frame>();
    inner->parent = scope_;
    auto outer = std::exchange(scope_, std::move(inner));
    auto assigned = assign(*what.target, item);
    auto holds = assigned ? evaluate(*what.condition) : result<value>(fail(assigned.error()));
    scope_ = std::move(outer);
    INFER_TRYV(holds);
    if (is_true(holds.value())) kept.push_back(item);
  }
  return sequence_of(value::list(std::move(kept)), services_.spent);
}

result<evaluator::flow> evaluator::run_for(const statement& what) {
  INFER_TRY(const auto items, loop_items(what));
  for (std::size_t index = 0; index < items->items.size(); ++index) {
    INFER_TRY(const flow ended, run_round(what, items, index));
    if (ended == flow::leave_loop) return flow::on;
  }
  if (items->items.empty()) return run_with(what);
  return flow::on;
}

result<evaluator::flow> evaluator::run_round(const statement& what, const std::shared_ptr<const sequence>& items,
                                             std::size_t index) {
  INFER_TRYV(services_.spent.spend(1));
  auto inner = std::make_shared<frame>();
  inner->parent = scope_;
  auto outer = std::exchange(scope_, std::move(inner));
  auto loop = std::make_shared<loop_state>();
  loop->items = items;
  loop->index = index;
  scope_->put("loop", value(std::shared_ptr<const loop_state>(std::move(loop))));
  const auto assigned = assign(*what.target, items->items[index]);
  auto ended = assigned ? run_body(what.body) : result<flow>(fail(assigned.error()));
  scope_ = std::move(outer);
  return ended;
}

// A body in a scope of its own: of with and generation, or the else of a loop.
result<evaluator::flow> evaluator::run_with(const statement& what) {
  auto inner = std::make_shared<frame>();
  inner->parent = scope_;
  for (const parameter& one : what.parameters) {
    INFER_TRY(auto item, evaluate(*one.otherwise));
    inner->put(one.name, std::move(item));
  }
  auto outer = std::exchange(scope_, std::move(inner));
  auto ended = run_body(what.kind == statement_kind::for_each ? what.otherwise : what.body);
  scope_ = std::move(outer);
  return ended;
}

result<void> evaluator::run_set(const statement& what) {
  if (what.kind == statement_kind::set) {
    INFER_TRY(const value item, evaluate(*what.what));
    return assign(*what.target, item);
  }
  auto inner = std::make_shared<frame>();
  inner->parent = scope_;
  auto outer = std::exchange(scope_, std::move(inner));
  auto body = captured(what.body);
  scope_ = std::move(outer);
  INFER_TRYV(body);
  value item(std::move(body).value());
  if (what.what) {
    const value* before = std::exchange(filter_input_, &item);
    auto made = evaluate(*what.what);
    filter_input_ = before;
    INFER_TRYV(made);
    return assign(*what.target, made.value());
  }
  return assign(*what.target, item);
}

result<void> evaluator::assign(const expression& target, const value& item) {
  if (target.kind == expr_kind::name) {
    scope_->put(target.name, item);
    return success();
  }
  if (target.kind == expr_kind::attribute) {
    INFER_TRY(const value owner, evaluate(*target.children[0]));
    name_space* names = owner.as_namespace();
    if (names == nullptr) return fail(fault::evaluation, "cannot assign attribute on non-namespace object");
    names->put(target.name, item);
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

void evaluator::define_macro(const statement& what) {
  scope_->put(what.name, value(macro_of(what)));
}

result<void> evaluator::run_call_block(const statement& what) {
  caller_ = value(macro_of(what));
  auto made = evaluate(*what.what);
  caller_.reset();
  INFER_TRYV(made);
  return print(made.value());
}

}  // namespace infer::templates
