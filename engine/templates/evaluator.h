// Runs a syntax tree over variables.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/ast.h"
#include "engine/templates/builtins.h"

namespace infer::templates {

/// One scope of names. A macro keeps the scope it was defined in.
struct frame {
  std::vector<std::pair<std::string, value>> names;
  std::shared_ptr<frame> parent;

  const value* find(std::string_view name) const;
  void put(std::string_view name, value item);
};

/// One rendering.
/// Threads: one. Memory: everything it made is gone when it is, cycles through namespaces and macros included.
class evaluator {
 public:
  evaluator(std::unordered_map<std::string, value> variables, const render_limits& limits, const std::tm& now);
  ~evaluator();
  evaluator(const evaluator&) = delete;
  evaluator& operator=(const evaluator&) = delete;

  /// The output of the whole template. Errors: evaluation and limit with the line in front; raised with the template's
  /// own message.
  result<text> run(const statements& root);

 private:
  enum class flow { on, leave_loop, next_round };

  // Statements (statements.cc).
  result<flow> run_body(const statements& body);
  result<flow> run_one(const statement& what);
  result<flow> run_if(const statement* what);
  result<flow> run_for(const statement& what);
  result<flow> run_round(const statement& what, const std::shared_ptr<const sequence>& items, std::size_t index);
  result<std::shared_ptr<const sequence>> loop_items(const statement& what);
  result<void> run_set(const statement& what);
  result<void> run_call_block(const statement& what);
  result<flow> run_with(const statement& what);
  result<void> assign(const expression& target, const value& item);
  void define_macro(const statement& what);
  result<text> captured(const statements& body);
  result<void> print(const value& what);
  std::shared_ptr<const callable> macro_of(const statement& what);

  // Expressions (expressions.cc).
  result<value> evaluate(const expression& what);
  result<value> compute(const expression& what);
  result<value> compute_composite(const expression& what);
  result<value> evaluate_name(const expression& what);
  result<value> evaluate_list(const expression& what);
  result<value> evaluate_dictionary(const expression& what);
  result<value> evaluate_logic(const expression& what);
  result<value> evaluate_concat(const expression& what);
  result<value> evaluate_compare(const expression& what);
  result<value> evaluate_conditional(const expression& what);
  result<value> evaluate_filter(const expression& what);
  result<value> evaluate_test(const expression& what);
  result<value> evaluate_subscript(const expression& what);
  result<value> evaluate_call(const expression& what);
  result<call_arguments> evaluate_arguments(const expression& what);
  result<value> call(const value& callee, const call_arguments& args);
  result<value> call_macro(const callable& macro, const call_arguments& args);
  result<void> bind_parameters(const callable& macro, const call_arguments& args);

  services services_;
  std::unordered_map<std::string, value> variables_;
  std::shared_ptr<frame> scope_;
  std::vector<std::weak_ptr<frame>> macro_scopes_;
  text* output_ = nullptr;
  const value* filter_input_ = nullptr;  // of the filter block that is being applied
  std::optional<value> caller_;          // for the macro call of a call block
  std::uint32_t depth_ = 0;
  std::uint32_t line_ = 0;
};

}  // namespace infer::templates
