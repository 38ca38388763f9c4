// Statements: what stands between {% and %}.
#include "engine/templates/parser.h"

#include <algorithm>

#include "engine/templates/expression_parser.h"
#include "engine/templates/lexer.h"

namespace infer::templates {
namespace {

using ends = std::vector<const char*>;
using statement_ptr = std::unique_ptr<statement>;

class statement_parser {
 public:
  explicit statement_parser(const std::vector<token>& tokens) : in_(tokens), tokens_(tokens) {}

  result<statements> run() {
    INFER_TRY(auto body, parse_until({}));
    return body;
  }

 private:
  statement_ptr make(statement_kind kind) const {
    auto made = std::make_unique<statement>();
    made->kind = kind;
    made->line = in_.now().line;
    return made;
  }

  bool at_end_of(const ends& names) const {
    const token& tag = in_.ahead(1);
    return tag.kind == token_kind::name &&
           std::any_of(names.begin(), names.end(), [&](const char* n) { return tag.text == n; });
  }

  // Statements up to a tag named in `names`, whose name is then the current token. No names: up to the end.
  result<statements> parse_until(const ends& names) {
    INFER_TRYV(in_.enter());
    statements body;
    for (;;) {
      in_.begin();
      switch (in_.now().kind) {
        case token_kind::data: {
          auto made = make(statement_kind::data);
          made->constant = value(text(in_.now().text, true));
          in_.next();
          body.push_back(std::move(made));
          break;
        }
        case token_kind::print_begin: {
          in_.next();
          auto made = make(statement_kind::print);
          INFER_TRY(made->what, in_.parse_tuple(true));
          INFER_TRYV(in_.expect(token_kind::print_end, "'}}'"));
          body.push_back(std::move(made));
          break;
        }
        case token_kind::block_begin: {
          if (at_end_of(names)) {
            in_.next();
            in_.leave();
            return body;
          }
          in_.next();
          INFER_TRY(auto made, parse_tag());
          body.push_back(std::move(made));
          break;
        }
        default:
          if (!names.empty()) return fail(in_.unexpected(std::string("'{% ") + names.back() + " %}'"));
          in_.leave();
          return body;
      }
    }
  }

  result<void> end_block() { return in_.expect(token_kind::block_end, "'%}'"); }

  // The body, and the end tag after it.
  result<statements> body_until(const char* name) {
    INFER_TRY(auto body, parse_until({name}));
    in_.next();
    INFER_TRYV(end_block());
    return body;
  }

  result<statement_ptr> parse_tag() {
    const token& tag = in_.now();
    if (tag.is_name("if")) return parse_if();
    if (tag.is_name("for")) return parse_for();
    if (tag.is_name("set")) return parse_set();
    if (tag.is_name("macro")) return parse_macro();
    if (tag.is_name("call")) return parse_call();
    if (tag.is_name("filter")) return parse_filter();
    if (tag.is_name("with")) return parse_with();
    if (tag.is_name("generation")) return parse_generation();
    if (tag.is_name("break") || tag.is_name("continue")) return parse_loop_control();
    return fail(in_.unexpected("a statement (if, for, set, macro, call, filter, with, generation, break, continue)"));
  }

  result<statement_ptr> parse_if() {
    auto first = make(statement_kind::if_else);
    statement* last = first.get();
    in_.next();
    for (;;) {
      INFER_TRY(last->what, in_.parse_tuple(false));
      INFER_TRYV(end_block());
      INFER_TRY(last->body, parse_until({"elif", "else", "endif"}));
      if (!in_.now().is_name("elif")) break;
      // An elif is an if inside the else; long chains are walked, not recursed into, when they run.
      auto more = make(statement_kind::if_else);
      statement* inner = more.get();
      last->otherwise.push_back(std::move(more));
      last = inner;
      in_.next();
      if (++chain_ > 2000) return fail(in_.unexpected("fewer branches"));
    }
    if (in_.skip_name("else")) {
      INFER_TRYV(end_block());
      INFER_TRY(last->otherwise, parse_until({"endif"}));
    }
    in_.next();
    INFER_TRYV(end_block());
    return first;
  }

  result<statement_ptr> parse_for() {
    auto made = make(statement_kind::for_each);
    in_.next();
    INFER_TRY(made->target, in_.parse_target(false));
    INFER_TRYV(in_.expect_name("in"));
    INFER_TRY(made->what, in_.parse_tuple(false));
    if (in_.skip_name("if")) {
      INFER_TRY(made->condition, in_.parse());
    }
    INFER_TRYV(end_block());
    ++loops_;
    INFER_TRY(made->body, parse_until({"else", "endfor"}));
    --loops_;
    if (in_.skip_name("else")) {
      INFER_TRYV(end_block());
      INFER_TRY(made->otherwise, parse_until({"endfor"}));
    }
    in_.next();
    INFER_TRYV(end_block());
    return made;
  }

  result<statement_ptr> parse_set() {
    auto made = make(statement_kind::set);
    in_.next();
    INFER_TRY(made->target, in_.parse_target(true));
    if (in_.skip_op("=")) {
      INFER_TRY(made->what, in_.parse_tuple(true));
      INFER_TRYV(end_block());
      return made;
    }
    made->kind = statement_kind::set_block;
    if (in_.now().is_op("|")) {
      INFER_TRY(made->what, in_.parse_filter_chain(true));
    }
    INFER_TRYV(end_block());
    INFER_TRY(made->body, body_until("endset"));
    return made;
  }

  // A macro's body starts outside of any loop.
  result<void> macro_body(statement& macro, const char* end) {
    const int loops = std::exchange(loops_, 0);
    const std::size_t begin = in_.position();
    INFER_TRY(macro.body, body_until(end));
    loops_ = loops;
    for (std::size_t at = begin; at < in_.position(); ++at) {
      macro.takes_varargs |= tokens_[at].is_name("varargs");
      macro.takes_kwargs |= tokens_[at].is_name("kwargs");
    }
    return success();
  }

  result<statement_ptr> parse_macro() {
    auto made = make(statement_kind::macro);
    in_.next();
    INFER_TRY(made->name, in_.take_name());
    INFER_TRY(made->parameters, in_.parse_parameters());
    INFER_TRYV(end_block());
    INFER_TRYV(macro_body(*made, "endmacro"));
    return made;
  }

  result<statement_ptr> parse_call() {
    auto made = make(statement_kind::call_block);
    made->name = "caller";
    in_.next();
    if (in_.now().is_op("(")) {
      INFER_TRY(made->parameters, in_.parse_parameters());
    }
    INFER_TRY(made->what, in_.parse());
    if (made->what->kind != expr_kind::call) return fail(in_.unexpected("a call"));
    INFER_TRYV(end_block());
    INFER_TRYV(macro_body(*made, "endcall"));
    return made;
  }

  result<statement_ptr> parse_filter() {
    auto made = make(statement_kind::filter_block);
    in_.next();
    INFER_TRY(made->what, in_.parse_filter_chain(false));
    INFER_TRYV(end_block());
    INFER_TRY(made->body, body_until("endfilter"));
    return made;
  }

  result<statement_ptr> parse_with() {
    auto made = make(statement_kind::with);
    in_.next();
    while (in_.now().kind != token_kind::block_end) {
      if (!made->parameters.empty()) {
        INFER_TRYV(in_.expect_op(","));
      }
      parameter one;
      INFER_TRY(one.name, in_.take_name());
      INFER_TRYV(in_.expect_op("="));
      INFER_TRY(one.otherwise, in_.parse());
      made->parameters.push_back(std::move(one));
    }
    in_.next();
    INFER_TRY(made->body, body_until("endwith"));
    return made;
  }

  result<statement_ptr> parse_generation() {
    auto made = make(statement_kind::scope);
    in_.next();
    INFER_TRYV(end_block());
    INFER_TRY(made->body, body_until("endgeneration"));
    return made;
  }

  result<statement_ptr> parse_loop_control() {
    auto made = make(in_.now().is_name("break") ? statement_kind::break_loop : statement_kind::continue_loop);
    if (loops_ == 0) return fail(in_.unexpected("a loop around it"));
    in_.next();
    INFER_TRYV(end_block());
    return made;
  }

  expression_parser in_;
  const std::vector<token>& tokens_;
  int loops_ = 0;
  int chain_ = 0;
};

}  // namespace

result<statements> parse(std::string_view source) {
  INFER_TRY(const auto tokens, lex(source));
  return statement_parser(tokens).run();
}

}  // namespace infer::templates
