// What the lexer hands to the parser.
#pragma once

#include <cstdint>
#include <string>

namespace infer::templates {

enum class token_kind {
  data,         // text between tags, white space control applied
  print_begin,  // {{
  print_end,    // }}
  block_begin,  // {%
  block_end,    // %}
  name,
  string,  // escapes resolved
  integer,
  real,
  op,  // punctuation and operators, spelled out in `text`
  end,
};

struct token {
  token_kind kind = token_kind::end;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  std::uint32_t line = 1;

  bool is_op(const char* spelling) const { return kind == token_kind::op && text == spelling; }
  bool is_name(const char* spelling) const { return kind == token_kind::name && text == spelling; }
};

}  // namespace infer::templates
