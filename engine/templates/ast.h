// The syntax tree of a template.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/templates/value.h"

namespace infer::templates {

struct call_arguments;
struct filter_entry;
struct global_entry;
struct member;
struct test_entry;

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

inline constexpr std::uint32_t no_slot = UINT32_MAX;

/// A place where a name may have been assigned: a slot of the frame so many scopes out.
struct name_place {
  std::uint32_t scopes_out = 0;
  std::uint32_t slot = no_slot;
};

/// Where a name's value may be. Equal for all its uses in one scope, which share it.
struct name_resolution {
  std::vector<name_place> places;             // innermost first
  std::uint32_t variable = no_slot;           // then: in program::variables
  const global_entry* global = nullptr;       // then
  std::shared_ptr<const std::string> absent;  // what is said of a name that nothing holds
};

/// What resolve() found out about an expression, so that running it looks nothing up by name.
struct resolution {
  std::shared_ptr<const name_resolution> name;  // of a name that is read
  std::uint32_t slot = no_slot;                 // of a name that is assigned, in its own scope
  std::shared_ptr<const member> named;          // of .name and ["name"]
  const filter_entry* filter = nullptr;
  const test_entry* test = nullptr;
  std::shared_ptr<const call_arguments> arguments;  // where all are constants
};

struct expression {
  expr_kind kind;
  std::uint32_t line = 1;
  std::string name;
  value constant;
  std::vector<std::string> ops;
  std::vector<expression_ptr> children;
  std::vector<argument> arguments;
  resolution resolved;
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
  std::uint32_t slot = no_slot;
};

/// What resolve() found out about a statement.
struct statement_slots {
  std::uint32_t count = 0;            // names in the scope of the body
  std::uint32_t otherwise_count = 0;  // names in the scope of a loop's else
  std::uint32_t condition_count = 0;  // names in the scope of a loop's condition: those of the target
  std::uint32_t own = no_slot;        // of a macro's name
  std::uint32_t loop = no_slot;       // of `loop`, where the body uses it
  std::uint32_t caller = no_slot, varargs = no_slot, kwargs = no_slot;
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
  bool appends = false;                              // of set: the target is what `what` begins with (a = a ~ b)
  statement_slots slots;
};

/// A whole template, resolved.
struct program {
  statements body;
  std::uint32_t slots = 0;             // names in the outermost scope
  std::vector<std::string> variables;  // names that may come from outside
};

}  // namespace infer::templates
