// Runs a syntax tree over variables.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/ast.h"
#include "engine/templates/builtins.h"
#include "engine/templates/evaluated.h"

namespace infer::templates {

/// One scope of names, in the slots that resolve() gave them. A macro keeps the scope it was defined in.
struct frame {
  std::vector<std::optional<value>> slots;  // empty: not assigned yet, so that outer scopes are asked
  std::shared_ptr<frame> parent;
};

/// One rendering.
/// Threads: one. Memory: everything it made is gone when it is, cycles through namespaces and macros included.
class evaluator {
 public:
  /// `variables` belong to the names of program::variables, which must outlive this; so must `of`.
  evaluator(const program& of, std::vector<std::optional<value>> variables, const render_limits& limits,
            const std::tm& now);
  ~evaluator();
  evaluator(const evaluator&) = delete;
  evaluator& operator=(const evaluator&) = delete;

  /// The output of the whole template. Errors: evaluation and limit with the line in front; raised with the template's
  /// own message.
  result<text> run();

  /// Steps spent so far.
  std::uint64_t steps() const { return services_.spent.spent(); }

 private:
  enum class flow { on, leave_loop, next_round };

  // Statements (statements.cc).
  evaluated<flow> run_body(const statements& body);
  evaluated<flow> run_one(const statement& what);
  evaluated<flow> run_if(const statement* what);
  evaluated<flow> run_for(const statement& what);
  evaluated<flow> run_rounds(const statement& what, const std::shared_ptr<const sequence>& items);
  evaluated<std::shared_ptr<const sequence>> loop_items(const statement& what);
  evaluated<std::shared_ptr<const sequence>> chosen_items(const statement& what, const sequence& items);
  evaluated<flow> run_inner(const statements& body, std::uint32_t slots);
  evaluated<flow> run_with(const statement& what);
  evaluated<void> run_set(const statement& what);
  evaluated<void> run_set_block(const statement& what);
  evaluated<bool> append_to_target(const statement& what);
  evaluated<void> run_filter_block(const statement& what);
  evaluated<void> run_call_block(const statement& what);
  evaluated<void> assign(const expression& target, value item);
  value* target_of(const expression& target);
  evaluated<text> captured(const statements& body);
  evaluated<void> print(const value& what);
  std::shared_ptr<const callable> macro_of(const statement& what);

  // Frames (frames.cc): those that nothing keeps are used again.
  std::shared_ptr<frame> enter_scope(std::uint32_t slots, std::shared_ptr<frame> parent);
  void leave_scope(std::shared_ptr<frame> outer);
  void renew_scope(std::uint32_t slots);
  const value* find_name(const expression& what) const;
  void put(std::uint32_t slot, value item) { scope_->slots[slot] = std::move(item); }

  // Expressions (expressions.cc, look_through.cc).
  evaluated<void> go_deeper() {
    INFER_TRYV(services_.spent.spend(1));
    if (depth_ >= services_.spent.limits().depth) return too_deep();
    ++depth_;
    return success();
  }
  evaluated<void> too_deep() const;
  evaluated<value> evaluate(const expression& what);
  evaluated<value> make(const expression& what);
  evaluated<value> compute(const expression& what);
  evaluated<value> compute_composite(const expression& what);
  evaluated<value> evaluate_name(const expression& what);
  evaluated<value> evaluate_list(const expression& what);
  evaluated<value> evaluate_dictionary(const expression& what);
  evaluated<value> evaluate_logic(const expression& what);
  evaluated<value> evaluate_binary(const expression& what);
  evaluated<value> evaluate_concat(const expression& what);
  evaluated<value> evaluate_conditional(const expression& what);
  evaluated<value> evaluate_filter(const expression& what);
  evaluated<value> evaluate_subscript(const expression& what);
  evaluated<value> evaluate_slice(const expression& what);
  evaluated<bool> holds(const expression& what);
  evaluated<bool> decide(const expression& what);
  evaluated<bool> decide_compare(const expression& what);
  evaluated<bool> decide_test(const expression& what);

  // A value that lies somewhere need not be copied: these point at it. It stays there only while no expression that
  // makes something is evaluated, since that may assign.
  const value* peek(const expression& what);
  const value* peek_item(const expression& what);
  evaluated<const value*> look(const expression& what, value& room);
  struct operands {
    const value* left = nullptr;
    const value* right = nullptr;
    value left_room, right_room;
  };
  evaluated<void> look_at_both(const expression& left, const expression& right, operands& into);

  // Calls (calls.cc).
  evaluated<value> evaluate_call(const expression& what);
  evaluated<value> call_attribute(const expression& what, std::optional<value> caller);
  evaluated<const call_arguments*> evaluate_arguments(const expression& what, call_arguments& room);
  evaluated<value> call(const value& callee, const call_arguments& args);
  evaluated<value> call_macro(const callable& macro, const call_arguments& args);
  evaluated<void> bind_parameters(const callable& macro, const call_arguments& args);
  evaluated<void> bind_rest(const callable& macro, const call_arguments& args, const std::vector<bool>& used);

  const program& program_;
  services services_;
  std::vector<std::optional<value>> variables_;
  std::shared_ptr<frame> scope_;
  std::vector<std::shared_ptr<frame>> spare_;
  std::vector<std::weak_ptr<frame>> macro_scopes_;
  text* output_ = nullptr;
  const value* filter_input_ = nullptr;  // of the filter block that is being applied
  std::optional<value> caller_;          // for the macro call of a call block
  std::uint32_t depth_ = 0;
  std::uint32_t line_ = 0;
};

}  // namespace infer::templates
