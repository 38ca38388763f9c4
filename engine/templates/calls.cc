// Calls of functions, methods and macros.
#include "engine/templates/evaluator.h"
#include "engine/templates/operations.h"
#include "engine/templates/printing.h"

namespace infer::templates {

evaluated<const call_arguments*> evaluator::evaluate_arguments(const expression& what, call_arguments& room) {
  if (what.resolved.arguments) {
    INFER_TRYV(services_.spent.spend(what.arguments.size()));
    return what.resolved.arguments.get();
  }
  room.positional.reserve(what.arguments.size());
  for (const argument& one : what.arguments) {
    INFER_TRY(auto item, evaluate(*one.what));
    if (one.name.empty()) {
      room.positional.push_back(std::move(item));
    } else if (one.name == "*") {
      INFER_TRY(auto items, items_of(item, services_.spent));
      room.positional.insert(room.positional.end(), items.begin(), items.end());
    } else if (one.name == "**") {
      const dictionary* names = item.as_dictionary();
      if (names == nullptr) return fail(fault::evaluation, "argument after ** must be a mapping");
      for (const auto& [key, named] : names->entries) room.named.emplace_back(to_text(key).view(), named);
    } else {
      room.named.emplace_back(one.name, std::move(item));
    }
  }
  return &room;
}

evaluated<value> evaluator::evaluate_call(const expression& what) {
  auto caller = std::exchange(caller_, std::nullopt);  // belongs to this call alone, not to those in its arguments
  const expression& callee = *what.children[0];
  if (callee.kind == expr_kind::attribute) return call_attribute(what, std::move(caller));
  const bool is_name = callee.kind == expr_kind::name && callee.resolved.name->global != nullptr;
  call_arguments made;
  if (is_name && !caller && find_name(callee) == nullptr) {
    INFER_TRYV(services_.spent.spend(1));
    INFER_TRY(const call_arguments* args, evaluate_arguments(what, made));
    return call_global(services_, *callee.resolved.name->global, *args);
  }
  INFER_TRY(const value function, evaluate(callee));
  INFER_TRY(const call_arguments* args, evaluate_arguments(what, made));
  if (!caller) return call(function, *args);
  if (args != &made) made = *args;
  made.named.emplace_back("caller", std::move(*caller));
  return call(function, made);
}

// object.name(…): a method is called without a value made of it first.
evaluated<value> evaluator::call_attribute(const expression& what, std::optional<value> caller) {
  const expression& callee = *what.children[0];
  value room;
  INFER_TRYV(go_deeper());
  auto looked = look(*callee.children[0], room);
  --depth_;
  INFER_TRY(const value* self, std::move(looked));
  if (self != &room && !what.resolved.arguments) {
    room = *self;  // the arguments may assign what it points at
    self = &room;
  }
  call_arguments made;
  const method_entry* method = callee.resolved.named->bound.of(*self);
  if (method != nullptr && !caller) {
    INFER_TRY(const call_arguments* args, evaluate_arguments(what, made));
    return call_method(services_, *self, *method, *args);
  }
  INFER_TRY(const value function, get_attribute(*self, *callee.resolved.named));
  INFER_TRY(const call_arguments* args, evaluate_arguments(what, made));
  if (!caller) return call(function, *args);
  if (args != &made) made = *args;
  made.named.emplace_back("caller", std::move(*caller));
  return call(function, made);
}

evaluated<value> evaluator::call(const value& callee, const call_arguments& args) {
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

evaluated<value> evaluator::call_macro(const callable& macro, const call_arguments& args) {
  auto outer = enter_scope(macro.macro->slots.count, macro.scope);
  const std::uint32_t line = line_;
  auto bound = bind_parameters(macro, args);
  evaluated<text> made = bound ? captured(macro.macro->body) : evaluated<text>(fail(bound.error()));
  leave_scope(std::move(outer));
  if (!made) return fail(std::move(made).error());
  line_ = line;
  return value(std::move(made).value());
}

evaluated<void> evaluator::bind_parameters(const callable& macro, const call_arguments& args) {
  const auto& parameters = macro.macro->parameters;
  std::vector<bool> used(args.named.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const parameter& one = parameters[i];
    const value* given = i < args.positional.size() ? &args.positional[i] : nullptr;
    for (std::size_t k = 0; k < args.named.size(); ++k) {
      if (args.named[k].first != one.name) continue;
      if (given != nullptr)
        return fail(fault::evaluation, "macro '" + macro.name + "' got two values for '" + one.name + "'");
      given = &args.named[k].second;
      used[k] = true;
    }
    if (given != nullptr) {
      put(one.slot, *given);
    } else if (one.otherwise) {
      INFER_TRY(auto item, evaluate(*one.otherwise));
      put(one.slot, std::move(item));
    } else {
      put(one.slot, value::undefined("parameter '" + one.name + "' was not provided"));
    }
  }
  return bind_rest(macro, args, used);
}

// What no parameter takes: caller, varargs and kwargs.
evaluated<void> evaluator::bind_rest(const callable& macro, const call_arguments& args, const std::vector<bool>& used) {
  const statement& what = *macro.macro;
  const std::size_t taken = std::min(what.parameters.size(), args.positional.size());
  if (taken < args.positional.size() && !what.takes_varargs) {
    return fail(fault::evaluation, "macro '" + macro.name + "' takes not more than " +
                                       std::to_string(what.parameters.size()) + " argument(s)");
  }
  std::shared_ptr<dictionary> more;
  for (std::size_t k = 0; k < args.named.size(); ++k) {
    if (used[k]) continue;
    const auto& [name, item] = args.named[k];
    if (name == "caller") {
      put(what.slots.caller, item);
    } else if (!what.takes_kwargs) {
      return fail(fault::evaluation, "macro '" + macro.name + "' takes no keyword argument '" + name + "'");
    } else {
      if (!more) more = std::make_shared<dictionary>();
      more->put(value(text(name, true)), item);
    }
  }
  if (what.takes_varargs) {
    const auto rest = args.positional.begin() + static_cast<std::ptrdiff_t>(taken);
    put(what.slots.varargs, value::tuple(std::vector<value>(rest, args.positional.end())));
  }
  if (what.takes_kwargs) {
    if (!more) more = std::make_shared<dictionary>();
    put(what.slots.kwargs, value(std::shared_ptr<const dictionary>(std::move(more))));
  }
  return success();
}

}  // namespace infer::templates
