// One pass over the tree with the scopes that enclose each place.
#include "engine/templates/resolver.h"

#include <unordered_map>
#include <utility>

#include "engine/templates/builtins.h"

namespace infer::templates {
namespace {

/// The names that one frame holds. A name is in it wherever the scope assigns it, also further down.
struct scope {
  explicit scope(scope* outer) : parent(outer) {}

  std::uint32_t add(const std::string& name) { return names.emplace(name, count()).first->second; }
  std::uint32_t find(const std::string& name) const {
    const auto at = names.find(name);
    return at == names.end() ? no_slot : at->second;
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(names.size()); }

  std::unordered_map<std::string, std::uint32_t> names;
  std::unordered_map<std::string, std::shared_ptr<const name_resolution>> resolved;  // of names that were read here
  scope* parent;
  std::uint32_t loop = no_slot;  // the slot of `loop`
  bool uses_loop = false;
};

void collect_target(const expression& target, scope& into) {
  if (target.kind == expr_kind::name) into.add(target.name);
  if (target.kind != expr_kind::tuple) return;
  for (const auto& one : target.children) collect_target(*one, into);
}

// The next branch of a chain of elif, which is walked and not recursed into; null at its end.
statement* next_branch(const statement& one) {
  const bool chained = one.otherwise.size() == 1 && one.otherwise[0]->kind == statement_kind::if_else;
  return chained ? one.otherwise[0].get() : nullptr;
}

// The names that these statements assign in the scope they run in.
void collect(const statements& body, scope& into) {
  for (const auto& one : body) {
    switch (one->kind) {
      case statement_kind::set:
      case statement_kind::set_block:
        collect_target(*one->target, into);
        break;
      case statement_kind::macro:
        into.add(one->name);
        break;
      case statement_kind::if_else:
        for (const statement* branch = one.get(); branch != nullptr; branch = next_branch(*branch)) {
          collect(branch->body, into);
          if (next_branch(*branch) == nullptr) collect(branch->otherwise, into);
        }
        break;
      case statement_kind::filter_block:
        collect(one->body, into);
        break;
      default:
        break;
    }
  }
}

bool is_same_place(const expression& a, const expression& b) {
  if (a.kind != b.kind || a.name != b.name) return false;
  if (a.kind == expr_kind::name) return true;
  return a.kind == expr_kind::attribute && a.children[0]->kind == expr_kind::name &&
         is_same_place(*a.children[0], *b.children[0]);
}

// a = a ~ b ~ …, a = a + b
bool begins_with_target(const expression& target, const expression& what) {
  const bool joins = what.kind == expr_kind::concat || (what.kind == expr_kind::binary && what.name == "+");
  return joins && is_same_place(target, *what.children[0]);
}

class resolver {
 public:
  program run(statements body) {
    program made;
    scope root(nullptr);
    collect(body, root);
    in_scope(root, [&] { resolve_all(body); });
    made.body = std::move(body);
    made.slots = root.count();
    made.variables = std::move(names_);
    return made;
  }

 private:
  template <class Walk>
  void in_scope(scope& inner, const Walk& walk) {
    scope* outer = std::exchange(now_, &inner);
    walk();
    now_ = outer;
  }

  void resolve_all(statements& body) {
    for (auto& one : body) resolve_one(*one);
  }

  // A body in a scope of its own; how many names it has.
  std::uint32_t resolve_inner(statements& body) {
    scope inner(now_);
    collect(body, inner);
    in_scope(inner, [&] { resolve_all(body); });
    return inner.count();
  }

  void resolve_one(statement& one) {
    switch (one.kind) {
      case statement_kind::if_else:
        return resolve_if(&one);
      case statement_kind::for_each:
        return resolve_for(one);
      case statement_kind::macro:
        one.slots.own = now_->find(one.name);
        return resolve_macro(one);
      case statement_kind::call_block:
        resolve_expression(one.what);
        return resolve_macro(one);
      case statement_kind::with:
        return resolve_with(one);
      case statement_kind::set_block:
        one.slots.count = resolve_inner(one.body);
        break;
      case statement_kind::scope:
        one.slots.count = resolve_inner(one.body);
        return;
      case statement_kind::set:
        one.appends = begins_with_target(*one.target, *one.what);
        break;
      default:
        resolve_all(one.body);
    }
    resolve_expression(one.what);
    if (one.target) resolve_target(*one.target);
  }

  void resolve_if(statement* branch) {
    for (statement* next = branch; next != nullptr; next = next_branch(*branch)) {
      branch = next;
      resolve_expression(branch->what);
      resolve_all(branch->body);
    }
    resolve_all(branch->otherwise);
  }

  void resolve_for(statement& one) {
    resolve_expression(one.what);
    // The targets have the same slots in the condition's scope and in the body's.
    scope condition(now_), body(now_), otherwise(now_);
    collect_target(*one.target, condition);
    collect_target(*one.target, body);
    in_scope(condition, [&] { resolve_expression(one.condition); });
    body.loop = body.add("loop");
    collect(one.body, body);
    in_scope(body, [&] {
      resolve_target(*one.target);
      resolve_all(one.body);
    });
    collect(one.otherwise, otherwise);
    in_scope(otherwise, [&] { resolve_all(one.otherwise); });
    one.slots.condition_count = condition.count();
    one.slots.count = body.count();
    one.slots.otherwise_count = otherwise.count();
    if (body.uses_loop) one.slots.loop = body.loop;
  }

  void resolve_macro(statement& one) {
    scope inner(now_);
    for (parameter& given : one.parameters) given.slot = inner.add(given.name);
    one.slots.caller = inner.add("caller");
    one.slots.varargs = inner.add("varargs");
    one.slots.kwargs = inner.add("kwargs");
    collect(one.body, inner);
    in_scope(inner, [&] {
      for (parameter& given : one.parameters) resolve_expression(given.otherwise);
      resolve_all(one.body);
    });
    one.slots.count = inner.count();
  }

  void resolve_with(statement& one) {
    scope inner(now_);
    for (parameter& given : one.parameters) {
      resolve_expression(given.otherwise);
      given.slot = inner.add(given.name);
    }
    collect(one.body, inner);
    in_scope(inner, [&] { resolve_all(one.body); });
    one.slots.count = inner.count();
  }

  void resolve_target(expression& target) {
    if (target.kind == expr_kind::name) {
      target.resolved.slot = now_->find(target.name);
    } else if (target.kind == expr_kind::attribute) {
      resolve_expression(target.children[0]);
    } else {
      for (auto& one : target.children) resolve_target(*one);
    }
  }

  void resolve_expression(expression_ptr& what) {
    if (!what) return;
    for (auto& child : what->children) resolve_expression(child);
    for (argument& one : what->arguments) resolve_expression(one.what);
    switch (what->kind) {
      case expr_kind::name:
        return resolve_name(*what);
      case expr_kind::attribute:
        what->resolved.named = std::make_shared<const member>(what->name);
        return;
      case expr_kind::subscript:
        if (what->children[1]->kind != expr_kind::constant) return;
        if (const text* name = what->children[1]->constant.as_text()) {
          what->resolved.named = std::make_shared<const member>(name->view());
        }
        return;
      case expr_kind::filter:
        what->resolved.filter = find_filter(what->name);
        return resolve_arguments(*what);
      case expr_kind::test:
        what->resolved.test = find_test(what->name);
        return resolve_arguments(*what);
      case expr_kind::call:
        return resolve_arguments(*what);
      case expr_kind::list:
      case expr_kind::tuple:
        return fold(*what);
      default:
        return;
    }
  }

  void resolve_name(expression& what) {
    auto& known = now_->resolved[what.name];
    if (!known) known = std::make_shared<const name_resolution>(places_of(what.name));
    what.resolved.name = known;
  }

  name_resolution places_of(const std::string& name) {
    name_resolution made;
    std::uint32_t out = 0;
    for (scope* at = now_; at != nullptr; at = at->parent, ++out) {
      const std::uint32_t slot = at->find(name);
      if (slot == no_slot) continue;
      made.places.push_back({out, slot});
      if (slot != at->loop) continue;
      at->uses_loop = true;  // and always assigned: no scope further out is asked
      break;
    }
    const auto [known, added] = variables_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    made.variable = known->second;
    made.global = find_global(name);
    made.absent = std::make_shared<const std::string>("'" + name + "' is undefined");
    return made;
  }

  // Constants by position are kept ready.
  void resolve_arguments(expression& what) {
    auto ready = std::make_shared<call_arguments>();
    for (const argument& one : what.arguments) {
      if (!one.name.empty() || one.what->kind != expr_kind::constant) return;
      ready->positional.push_back(one.what->constant);
    }
    what.resolved.arguments = std::move(ready);
  }

  // Values never change, so a list of constants is one; deep ones stay, to fail when they are made.
  void fold(expression& what) {
    std::vector<value> items;
    for (const auto& child : what.children) {
      if (child->kind != expr_kind::constant || child->constant.depth() > 8) return;
      items.push_back(child->constant);
    }
    what.constant =
        value::make(what.kind == expr_kind::list ? sequence_kind::list : sequence_kind::tuple, std::move(items));
    what.kind = expr_kind::constant;
    what.children.clear();
  }

  scope* now_ = nullptr;
  std::unordered_map<std::string, std::uint32_t> variables_;
  std::vector<std::string> names_;  // of variables_
};

}  // namespace

program resolve(statements body) {
  return resolver().run(std::move(body));
}

}  // namespace infer::templates
