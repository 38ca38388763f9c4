// infer-node tokenize: text in, ids out, and back.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "apps/infer_node/commands.h"
#include "apps/infer_node/json_lines.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/whole_text.h"
#include "engine/formats/model_file.h"
#include "engine/models/hyper_reader.h"
#include "engine/tokenize/model_tokenizer.h"

namespace infer::apps {
namespace {

struct tokenize_options {
  std::string path;
  std::optional<std::string> text;
  bool json = false, json_lines = false, no_special = false;
};

result<std::shared_ptr<const tokenize::tokenizer>> open(const std::string& path) {
  INFER_TRY(const auto file, formats::open_model(path));
  return tokenize::make_tokenizer(*file, models::embedding_rows(*file));
}

bool flag(const boost::json::object& line, const char* name) {
  const auto* value = line.if_contains(name);
  return value == nullptr || !value->is_bool() || value->get_bool();
}

result<boost::json::object> answer_line(const tokenize::tokenizer& tokenizer, const boost::json::object& line) {
  if (const auto* text = line.if_contains("text"); text != nullptr && text->is_string()) {
    const auto& string = text->get_string();
    const auto ids =
        tokenizer.encode({string.data(), string.size()}, flag(line, "parse_special"), {flag(line, "add_special")});
    return boost::json::object{{"ids", boost::json::array(ids.begin(), ids.end())}};
  }
  INFER_TRY(const auto ids, ids_of(line));
  for (const token_id id : ids) {
    if (!tokenizer.contains(id))
      return fail(error{
          std::make_error_code(std::errc::invalid_argument),
          "token id " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(tokenizer.size())});
  }
  return boost::json::object{{"text", tokenizer.decode(ids, false)}};
}

int run(const tokenize_options& o) {
  const auto tokenizer = open(o.path);
  if (!tokenizer) return fail_with(tokenizer.error().message());
  if (o.json_lines) return for_each_json_line([&](const auto& line) { return answer_line(*tokenizer.value(), line); });
  const result<std::string> text = o.text ? result<std::string>(*o.text) : read_input();
  if (!text) return fail_with(text.error().message());
  const auto ids = tokenizer.value()->encode(text.value(), !o.no_special, {!o.no_special});
  const auto piece = [&](const token_id& id) {
    return boost::json::string(tokenizer.value()->decode({&id, 1}, false));
  };
  if (o.json) {
    boost::json::array pieces;
    for (const token_id id : ids) pieces.push_back(piece(id));
    std::cout << boost::json::serialize(boost::json::object{{"ids", boost::json::array(ids.begin(), ids.end())},
                                                            {"pieces", std::move(pieces)}})
              << "\n";
    return 0;
  }
  for (const token_id id : ids) std::cout << id << "\t" << boost::json::serialize(piece(id)) << "\n";
  return 0;
}

}  // namespace

void add_tokenize(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("tokenize", "text to token ids, and back");
  auto o = std::make_shared<tokenize_options>();
  command->add_option("-m,--model", o->path, "model file or a pulled model's name")
      ->required()
      ->type_name(model_type)
      ->transform(pulled_name());
  command->add_option("TEXT", o->text, "the text; else standard input");
  auto* lines =
      command->add_flag("--jsonl", o->json_lines,
                        R"(one {"text": …, "parse_special": bool, "add_special": bool} or {"ids": […]} per line)");
  command->add_flag("--json", o->json, "one JSON object with ids and pieces")->excludes(lines);
  command->add_flag("--no-special", o->no_special, "no BOS, and control tokens in the text are text");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace infer::apps
