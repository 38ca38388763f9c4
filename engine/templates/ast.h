// The syntax tree of a template.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/templates/value.h"

namespace infer::templates {

enum class expr_kind {
  constant,     // constant
  name,         // name
  list,         // children: items
  tuple,        // children: items
  dict,         // children: key, value, key, value, …
  negate,       // child
  positive,     // child
  logical_not,  // child
  logical_and,  // two children
  logical_or,   // two children
  binary,       // name: + - * / // % **; two children
  concat,       // ~; two or more children
  compare,      // ops[i] between children[i] and children[i + 1]
  conditional,  // condition, then, otherwise (may be null)
  filter,       // name; child: input (null inside a filter block); arguments
  test,         // name; child: input; arguments
  call,         // child: callee; arguments
  attribute,    // name; child: object
  subscript,    // object, index
  slice,        // start, stop, step; each may be null
};

struct expression;
using expression_ptr = std::unique_ptr<expression>;

struct argument {
  std::string name;  // empty: by position; "*" and "**": unpacked
  expression_ptr what;
};

struct expression {
  expr_kind kind;
  std::uint32_t line = 1;
  std::string name;
  value constant;
  std::vector<std::string> ops;
  std::vector<expression_ptr> children;
  std::vector<argument> arguments;
};

enum class statement_kind {
  data,          // text
  print,         // expression
  if_else,       // expression; body; otherwise
  for_each,      // target, expression (what to run over), condition (may be null); body; otherwise
  set,           // target, expression
  set_block,     // target, expression (a chain of filters, may be null); body
  macro,         // name; parameters; body
  call_block,    // expression (a call); parameters of the caller; body
  filter_block,  // expression (a chain of filters); body
  with,          // parameters with values; body
  scope,         // body, in a scope of its own (generation, block)
  break_loop,
  continue_loop,
};

struct statement;
using statements = std::vector<std::unique_ptr<statement>>;

struct parameter {
  std::string name;
  expression_ptr otherwise;  // default, may be null
};

struct statement {
  statement_kind kind;
  std::uint32_t line = 1;
  std::string name;
  value constant;         // of data
  expression_ptr target;  // a name, an attribute of a name, or a tuple of targets
  expression_ptr what;
  expression_ptr condition;
  std::vector<parameter> parameters;
  statements body;
  statements otherwise;
  bool takes_varargs = false, takes_kwargs = false;  // of a macro: its body uses these names
};

}  // namespace infer::templates
