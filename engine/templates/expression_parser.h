// Tokens to expressions.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/templates/ast.h"
#include "engine/templates/token.h"

namespace infer::templates {

/// Deepest nesting of expressions and statements that the parser follows.
inline constexpr int max_syntax_depth = 150;
/// Most operators, look-ups and filters in one expression: chains of them build trees as deep as they are long.
inline constexpr int max_syntax_links = 2000;

/// A recursive-descent parser over a list of tokens that ends with `end`.
class expression_parser {
 public:
  explicit expression_parser(const std::vector<token>& tokens) : tokens_(tokens) {}

  const token& now() const { return tokens_[at_]; }
  const token& ahead(std::size_t count) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  std::size_t position() const { return at_; }
  void next() { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }
  bool skip_op(const char* spelling);
  bool skip_name(const char* spelling);
  result<void> expect_op(const char* spelling);
  result<void> expect_name(const char* spelling);
  result<void> expect(token_kind kind, const char* what);
  result<std::string> take_name();
  /// A syntax error at the current token: "line 3: expected …, found …".
  error unexpected(const std::string& expected) const;

  /// A conditional expression.
  result<expression_ptr> parse();
  /// One or more expressions with commas: a tuple if there is a comma.
  result<expression_ptr> parse_tuple(bool with_conditional);
  /// What may stand left of "=" or after "for".
  result<expression_ptr> parse_target(bool with_attribute);
  /// The filters of a filter block or block set: `name(args)|name…`, their first input left out.
  result<expression_ptr> parse_filter_chain(bool leading_pipe);
  result<std::vector<parameter>> parse_parameters();

  /// One more level of nesting, until leave().
  result<void> enter();
  void leave() { --depth_; }
  /// Call between top-level expressions: the length of operator chains is counted anew.
  void begin() { links_ = 0; }

 private:
  using step = result<expression_ptr> (expression_parser::*)();
  result<expression_ptr> parse_or();
  result<expression_ptr> parse_and();
  result<expression_ptr> parse_not();
  result<expression_ptr> parse_compare();
  result<expression_ptr> parse_sum();
  result<expression_ptr> parse_concat();
  result<expression_ptr> parse_product();
  result<expression_ptr> parse_power();
  result<expression_ptr> parse_unary();
  result<expression_ptr> parse_signed(bool with_filters);
  result<expression_ptr> parse_primary();
  result<expression_ptr> parse_name();
  result<expression_ptr> parse_parenthesis();
  result<expression_ptr> parse_list();
  result<expression_ptr> parse_dict();
  result<expression_ptr> parse_postfix(expression_ptr on);
  result<expression_ptr> parse_filters(expression_ptr on);
  result<expression_ptr> parse_filter(expression_ptr on);
  result<expression_ptr> parse_test(expression_ptr on);
  result<expression_ptr> parse_call(expression_ptr on);
  result<expression_ptr> parse_attribute(expression_ptr on);
  result<expression_ptr> parse_subscript(expression_ptr on);
  result<expression_ptr> parse_index();
  result<std::vector<argument>> parse_arguments();
  result<std::string> parse_dotted_name();
  result<expression_ptr> parse_binary(step operand, std::initializer_list<const char*> spellings);
  expression_ptr make(expr_kind kind) const;
  bool at_tuple_end() const;
  result<void> link();

  const std::vector<token>& tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int links_ = 0;
};

}  // namespace infer::templates
