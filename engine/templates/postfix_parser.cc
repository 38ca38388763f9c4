// What follows a primary expression: attributes, subscripts, calls, filters and tests.
#include "engine/templates/expression_parser.h"

namespace infer::templates {

result<expression_ptr> expression_parser::parse_postfix(expression_ptr on) {
  for (;;) {
    if (now().is_op(".")) {
      INFER_TRY(on, parse_attribute(std::move(on)));
    } else if (now().is_op("[")) {
      INFER_TRY(on, parse_subscript(std::move(on)));
    } else if (now().is_op("(")) {
      INFER_TRY(on, parse_call(std::move(on)));
    } else {
      return on;
    }
  }
}

result<expression_ptr> expression_parser::parse_filters(expression_ptr on) {
  for (;;) {
    if (skip_op("|")) {
      INFER_TRY(on, parse_filter(std::move(on)));
    } else if (now().is_name("is")) {
      INFER_TRY(on, parse_test(std::move(on)));
    } else if (now().is_op("(")) {
      INFER_TRY(on, parse_call(std::move(on)));
    } else {
      return on;
    }
  }
}

result<std::string> expression_parser::parse_dotted_name() {
  INFER_TRY(std::string name, take_name());
  while (skip_op(".")) {
    INFER_TRY(const std::string more, take_name());
    name += "." + more;
  }
  return name;
}

result<expression_ptr> expression_parser::parse_filter(expression_ptr on) {
  INFER_TRYV(link());
  auto made = make(expr_kind::filter);
  INFER_TRY(made->name, parse_dotted_name());
  made->children.push_back(std::move(on));
  if (now().is_op("(")) {
    INFER_TRY(made->arguments, parse_arguments());
  }
  return made;
}

result<expression_ptr> expression_parser::parse_filter_chain(bool leading_pipe) {
  if (leading_pipe && !skip_op("|")) return fail(unexpected("'|'"));
  INFER_TRY(auto made, parse_filter(nullptr));
  while (skip_op("|")) {
    INFER_TRY(made, parse_filter(std::move(made)));
  }
  return made;
}

result<expression_ptr> expression_parser::parse_test(expression_ptr on) {
  next();
  INFER_TRYV(link());
  auto made = make(expr_kind::test);
  const bool negated = skip_name("not");
  INFER_TRY(made->name, parse_dotted_name());
  made->children.push_back(std::move(on));
  const token& found = now();
  if (found.is_op("(")) {
    INFER_TRY(made->arguments, parse_arguments());
  } else if (found.is_name("is")) {
    return fail(unexpected("no second test"));
  } else if ((found.kind == token_kind::name && !found.is_name("else") && !found.is_name("or") &&
              !found.is_name("and")) ||
             found.kind == token_kind::string || found.kind == token_kind::integer || found.kind == token_kind::real ||
             found.is_op("[") || found.is_op("{")) {
    INFER_TRY(auto primary, parse_primary());
    INFER_TRY(primary, parse_postfix(std::move(primary)));
    made->arguments.push_back({"", std::move(primary)});
  }
  if (!negated) return made;
  auto inverse = make(expr_kind::logical_not);
  inverse->children.push_back(std::move(made));
  return inverse;
}

result<std::vector<argument>> expression_parser::parse_arguments() {
  std::vector<argument> arguments;
  INFER_TRYV(expect_op("("));
  bool named = false;
  while (!now().is_op(")")) {
    argument one;
    if (now().is_op("**") || now().is_op("*")) {
      one.name = now().text;
      next();
    } else if (now().kind == token_kind::name && ahead(1).is_op("=")) {
      one.name = now().text;
      next();
      next();
      named = true;
    } else if (named) {
      return fail(unexpected("a named argument"));
    }
    INFER_TRY(one.what, parse());
    arguments.push_back(std::move(one));
    if (!skip_op(",")) break;
  }
  INFER_TRYV(expect_op(")"));
  return arguments;
}

result<expression_ptr> expression_parser::parse_call(expression_ptr on) {
  INFER_TRYV(link());
  auto made = make(expr_kind::call);
  made->children.push_back(std::move(on));
  INFER_TRY(made->arguments, parse_arguments());
  return made;
}

result<expression_ptr> expression_parser::parse_attribute(expression_ptr on) {
  INFER_TRYV(link());
  next();
  auto made = make(expr_kind::attribute);
  made->children.push_back(std::move(on));
  if (now().kind == token_kind::integer) {
    made->kind = expr_kind::subscript;
    auto index = make(expr_kind::constant);
    index->constant = value(now().integer);
    made->children.push_back(std::move(index));
    next();
    return made;
  }
  INFER_TRY(made->name, take_name());
  return made;
}

result<expression_ptr> expression_parser::parse_index() {
  auto made = make(expr_kind::slice);
  if (!now().is_op(":")) {
    INFER_TRY(auto start, parse());
    if (!now().is_op(":")) return start;
    made->children.push_back(std::move(start));
  } else {
    made->children.push_back(nullptr);
  }
  while (made->children.size() < 3 && skip_op(":")) {
    expression_ptr bound;
    if (!now().is_op(":") && !now().is_op("]") && !now().is_op(",")) {
      INFER_TRY(bound, parse());
    }
    made->children.push_back(std::move(bound));
  }
  made->children.resize(3);
  return made;
}

result<expression_ptr> expression_parser::parse_subscript(expression_ptr on) {
  INFER_TRYV(link());
  next();
  auto made = make(expr_kind::subscript);
  made->children.push_back(std::move(on));
  INFER_TRY(auto index, parse_index());
  if (now().is_op(",")) {
    auto tuple = make(expr_kind::tuple);
    tuple->children.push_back(std::move(index));
    while (skip_op(",")) {
      INFER_TRY(auto more, parse_index());
      tuple->children.push_back(std::move(more));
    }
    index = std::move(tuple);
  }
  INFER_TRYV(expect_op("]"));
  made->children.push_back(std::move(index));
  return made;
}

}  // namespace infer::templates
