// Expressions in the order of their precedence: conditional, or, and, not, comparison, sum, concatenation, product,
// power, sign, filters and tests, calls and look-ups.
#include "engine/templates/expression_parser.h"

namespace infer::templates {
namespace {

// Counts one level of nesting while it lives.
struct nesting {
  explicit nesting(expression_parser& parser) : parser_(parser) {}
  ~nesting() { parser_.leave(); }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;
  expression_parser& parser_;
};

std::string shown(const token& found) {
  switch (found.kind) {
    case token_kind::data:
      return "text";
    case token_kind::print_begin:
      return "'{{'";
    case token_kind::print_end:
      return "'}}'";
    case token_kind::block_begin:
      return "'{%'";
    case token_kind::block_end:
      return "'%}'";
    case token_kind::string:
      return "a string";
    case token_kind::end:
      return "the end of the template";
    default:
      return "'" + found.text + "'";
  }
}

}  // namespace

error expression_parser::unexpected(const std::string& expected) const {
  return {make_error_code(fault::syntax),
          "line " + std::to_string(now().line) + ": expected " + expected + ", found " + shown(now())};
}

result<void> expression_parser::enter() {
  ++depth_;
  if (depth_ <= max_syntax_depth) return success();
  return fail(fault::syntax, "line " + std::to_string(now().line) + ": nested more than " +
                                 std::to_string(max_syntax_depth) + " levels deep");
}

result<void> expression_parser::link() {
  if (++links_ <= max_syntax_links) return success();
  return fail(fault::syntax, "line " + std::to_string(now().line) + ": an expression of more than " +
                                 std::to_string(max_syntax_links) + " operators");
}

bool expression_parser::skip_op(const char* spelling) {
  if (!now().is_op(spelling)) return false;
  next();
  return true;
}

bool expression_parser::skip_name(const char* spelling) {
  if (!now().is_name(spelling)) return false;
  next();
  return true;
}

result<void> expression_parser::expect_op(const char* spelling) {
  if (skip_op(spelling)) return success();
  return fail(unexpected("'" + std::string(spelling) + "'"));
}

result<void> expression_parser::expect_name(const char* spelling) {
  if (skip_name(spelling)) return success();
  return fail(unexpected("'" + std::string(spelling) + "'"));
}

result<void> expression_parser::expect(token_kind kind, const char* what) {
  if (now().kind != kind) return fail(unexpected(what));
  next();
  return success();
}

result<std::string> expression_parser::take_name() {
  if (now().kind != token_kind::name) return fail(unexpected("a name"));
  std::string name = now().text;
  next();
  return name;
}

expression_ptr expression_parser::make(expr_kind kind) const {
  auto made = std::make_unique<expression>();
  made->kind = kind;
  made->line = now().line;
  return made;
}

result<expression_ptr> expression_parser::parse() {
  const nesting level(*this);
  INFER_TRYV(enter());
  INFER_TRY(auto first, parse_or());
  while (now().is_name("if")) {
    auto made = make(expr_kind::conditional);
    next();
    INFER_TRY(auto condition, parse_or());
    expression_ptr otherwise;
    if (skip_name("else")) {
      INFER_TRY(otherwise, parse());
    }
    made->children.push_back(std::move(condition));
    made->children.push_back(std::move(first));
    made->children.push_back(std::move(otherwise));
    first = std::move(made);
    INFER_TRYV(link());
  }
  return first;
}

result<expression_ptr> expression_parser::parse_or() {
  INFER_TRY(auto left, parse_and());
  while (now().is_name("or")) {
    auto made = make(expr_kind::logical_or);
    INFER_TRYV(link());
    next();
    INFER_TRY(auto right, parse_and());
    made->children.push_back(std::move(left));
    made->children.push_back(std::move(right));
    left = std::move(made);
  }
  return left;
}

result<expression_ptr> expression_parser::parse_and() {
  INFER_TRY(auto left, parse_not());
  while (now().is_name("and")) {
    auto made = make(expr_kind::logical_and);
    INFER_TRYV(link());
    next();
    INFER_TRY(auto right, parse_not());
    made->children.push_back(std::move(left));
    made->children.push_back(std::move(right));
    left = std::move(made);
  }
  return left;
}

result<expression_ptr> expression_parser::parse_not() {
  if (!now().is_name("not")) return parse_compare();
  const nesting level(*this);
  INFER_TRYV(enter());
  auto made = make(expr_kind::logical_not);
  next();
  INFER_TRY(auto inner, parse_not());
  made->children.push_back(std::move(inner));
  return made;
}

result<expression_ptr> expression_parser::parse_compare() {
  INFER_TRY(auto first, parse_sum());
  expression_ptr made;
  for (;;) {
    std::string op;
    for (const char* spelling : {"==", "!=", "<", "<=", ">", ">="}) {
      if (now().is_op(spelling)) op = spelling;
    }
    if (now().is_name("in")) op = "in";
    if (now().is_name("not") && ahead(1).is_name("in")) {
      op = "not in";
      next();
    }
    if (op.empty()) break;
    if (!made) {
      made = make(expr_kind::compare);
      made->children.push_back(std::move(first));
    }
    next();
    INFER_TRY(auto right, parse_sum());
    made->ops.push_back(std::move(op));
    made->children.push_back(std::move(right));
  }
  return made ? std::move(made) : std::move(first);
}

result<expression_ptr> expression_parser::parse_binary(step operand, std::initializer_list<const char*> spellings) {
  INFER_TRY(auto left, (this->*operand)());
  for (;;) {
    const char* op = nullptr;
    for (const char* spelling : spellings) {
      if (now().is_op(spelling)) op = spelling;
    }
    if (op == nullptr) return left;
    auto made = make(expr_kind::binary);
    made->name = op;
    INFER_TRYV(link());
    next();
    INFER_TRY(auto right, (this->*operand)());
    made->children.push_back(std::move(left));
    made->children.push_back(std::move(right));
    left = std::move(made);
  }
}

result<expression_ptr> expression_parser::parse_sum() {
  return parse_binary(&expression_parser::parse_concat, {"+", "-"});
}

result<expression_ptr> expression_parser::parse_concat() {
  INFER_TRY(auto first, parse_product());
  if (!now().is_op("~")) return first;
  auto made = make(expr_kind::concat);
  made->children.push_back(std::move(first));
  while (skip_op("~")) {
    INFER_TRY(auto right, parse_product());
    made->children.push_back(std::move(right));
  }
  return made;
}

result<expression_ptr> expression_parser::parse_product() {
  return parse_binary(&expression_parser::parse_power, {"*", "/", "//", "%"});
}

result<expression_ptr> expression_parser::parse_power() {
  return parse_binary(&expression_parser::parse_unary, {"**"});
}

result<expression_ptr> expression_parser::parse_unary() {
  return parse_signed(true);
}

result<expression_ptr> expression_parser::parse_signed(bool with_filters) {
  const nesting level(*this);
  INFER_TRYV(enter());
  expression_ptr made;
  if (now().is_op("-") || now().is_op("+")) {
    made = make(now().is_op("-") ? expr_kind::negate : expr_kind::positive);
    next();
    INFER_TRY(auto inner, parse_signed(false));
    made->children.push_back(std::move(inner));
  } else {
    INFER_TRY(made, parse_primary());
  }
  INFER_TRY(made, parse_postfix(std::move(made)));
  if (with_filters) return parse_filters(std::move(made));
  return made;
}

result<expression_ptr> expression_parser::parse_primary() {
  auto made = make(expr_kind::constant);
  switch (now().kind) {
    case token_kind::name:
      return parse_name();
    case token_kind::string: {
      std::string joined;
      for (; now().kind == token_kind::string; next()) joined += now().text;
      made->constant = value(text(std::move(joined), true));
      return made;
    }
    case token_kind::integer:
      made->constant = value(now().integer);
      break;
    case token_kind::real:
      made->constant = value(now().real);
      break;
    default:
      if (now().is_op("(")) return parse_parenthesis();
      if (now().is_op("[")) return parse_list();
      if (now().is_op("{")) return parse_dict();
      return fail(unexpected("an expression"));
  }
  next();
  return made;
}

result<expression_ptr> expression_parser::parse_name() {
  auto made = make(expr_kind::constant);
  const std::string& name = now().text;
  if (name == "true" || name == "True") {
    made->constant = value(true);
  } else if (name == "false" || name == "False") {
    made->constant = value(false);
  } else if (name == "none" || name == "None") {
    made->constant = value(none_value{});
  } else {
    made->kind = expr_kind::name;
    made->name = name;
  }
  next();
  return made;
}

result<expression_ptr> expression_parser::parse_parenthesis() {
  auto made = make(expr_kind::tuple);
  next();
  if (skip_op(")")) return made;
  INFER_TRY(made, parse_tuple(true));
  INFER_TRYV(expect_op(")"));
  return made;
}

result<expression_ptr> expression_parser::parse_list() {
  auto made = make(expr_kind::list);
  next();
  while (!now().is_op("]")) {
    INFER_TRY(auto item, parse());
    made->children.push_back(std::move(item));
    if (!skip_op(",")) break;
  }
  INFER_TRYV(expect_op("]"));
  return made;
}

result<expression_ptr> expression_parser::parse_dict() {
  auto made = make(expr_kind::dict);
  next();
  while (!now().is_op("}")) {
    INFER_TRY(auto key, parse());
    INFER_TRYV(expect_op(":"));
    INFER_TRY(auto item, parse());
    made->children.push_back(std::move(key));
    made->children.push_back(std::move(item));
    if (!skip_op(",")) break;
  }
  INFER_TRYV(expect_op("}"));
  return made;
}

bool expression_parser::at_tuple_end() const {
  const token& found = now();
  return found.kind == token_kind::print_end || found.kind == token_kind::block_end || found.is_op(")") ||
         found.kind == token_kind::end;
}

result<expression_ptr> expression_parser::parse_tuple(bool with_conditional) {
  const auto item = [&] { return with_conditional ? parse() : parse_or(); };
  INFER_TRY(auto first, item());
  if (!now().is_op(",")) return first;
  auto made = make(expr_kind::tuple);
  made->children.push_back(std::move(first));
  while (skip_op(",")) {
    if (at_tuple_end()) break;
    INFER_TRY(auto more, item());
    made->children.push_back(std::move(more));
  }
  return made;
}

result<expression_ptr> expression_parser::parse_target(bool with_attribute) {
  const nesting level(*this);
  INFER_TRYV(enter());
  auto made = make(expr_kind::tuple);
  do {
    if (!made->children.empty() && (now().is_name("in") || now().is_op("=") || now().is_op(")"))) break;
    expression_ptr one;
    if (skip_op("(")) {
      INFER_TRY(one, parse_target(false));
      INFER_TRYV(expect_op(")"));
    } else {
      one = make(expr_kind::name);
      INFER_TRY(one->name, take_name());
      if (with_attribute && now().is_op(".")) {
        auto attribute = make(expr_kind::attribute);
        next();
        INFER_TRY(attribute->name, take_name());
        attribute->children.push_back(std::move(one));
        one = std::move(attribute);
      }
    }
    made->children.push_back(std::move(one));
    if (!now().is_op(",") && made->children.size() == 1) return std::move(made->children.front());
  } while (skip_op(","));
  return made;
}

result<std::vector<parameter>> expression_parser::parse_parameters() {
  std::vector<parameter> parameters;
  INFER_TRYV(expect_op("("));
  while (!now().is_op(")")) {
    parameter one;
    INFER_TRY(one.name, take_name());
    if (skip_op("=")) {
      INFER_TRY(one.otherwise, parse());
    } else if (!parameters.empty() && parameters.back().otherwise) {
      return fail(unexpected("a default, since the parameter before has one"));
    }
    parameters.push_back(std::move(one));
    if (!skip_op(",")) break;
  }
  INFER_TRYV(expect_op(")"));
  return parameters;
}

}  // namespace infer::templates
