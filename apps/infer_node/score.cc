// infer-node score: log-probabilities of a text or of given ids, position by position.
#include <boost/json/array.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include "actors/model/footprint.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/json_lines.h"
#include "apps/infer_node/model_options.h"
#include "apps/infer_node/whole_text.h"
#include "engine/decode/kernel_choice.h"
#include "engine/decode/scorer.h"
#include "engine/tokenize/model_tokenizer.h"
#include "protocol/http/json_text.h"

namespace infer::apps {
namespace {

namespace json = boost::json;

struct score_options {
  model_options model;
  std::optional<std::string> text;
  std::uint32_t top = 0;
  bool json = false, json_lines = false;
};

json::array rows_of(const std::vector<decode::scored_position>& positions, std::uint32_t top_count) {
  json::array rows;
  for (const auto& position : positions) {
    json::object row{{"id", position.next.id}, {"logprob", position.next.logprob}};
    json::array top;
    for (const auto& [id, logprob] : position.top) top.push_back(json::array{id, logprob});
    if (top_count > 0) row["top"] = std::move(top);
    rows.push_back(std::move(row));
  }
  return rows;
}

result<json::object> answer_line(decode::scorer& scorer, const score_options& o, const json::object& line) {
  INFER_TRY(const auto ids, ids_of(line));
  INFER_TRY(const auto positions, scorer.score(ids, o.top, o.model.batch));
  return json::object{{"positions", rows_of(positions, o.top)}};
}

/// A text's tokens and what the model thought of each but the first, with the perplexity of the whole.
result<void> score_text(decode::scorer& scorer, const score_options& o, const std::string& text) {
  INFER_TRY(const auto tokenizer, tokenize::make_tokenizer(scorer.file(), scorer.model().plan.vocabulary));
  const auto ids = tokenizer->encode(text, false, {true});
  if (ids.size() < 2)
    return fail(error{std::make_error_code(std::errc::invalid_argument),
                      "the text has " + std::to_string(ids.size()) + " tokens; two are the least to score"});
  INFER_TRY(const auto positions, scorer.score(ids, o.top, o.model.batch));
  double sum = 0;
  for (const auto& position : positions) sum += position.next.logprob;
  const double mean = sum / static_cast<double>(positions.size());
  if (o.json) {
    std::cout << http::write_json(json::object{{"ids", json::array(ids.begin(), ids.end())},
                                               {"positions", rows_of(positions, o.top)},
                                               {"logprob", sum},
                                               {"perplexity", std::exp(-mean)}})
              << "\n";
    return success();
  }
  const auto quoted = [&](const token_id& id) {
    std::string out;
    http::append_quoted(out, tokenizer->decode({&id, 1}, false));
    return out;
  };
  for (const auto& position : positions) {
    std::printf("%7d  %9.4f  %s", position.next.id, position.next.logprob, quoted(position.next.id).c_str());
    const char* before = "    rather ";
    for (const auto& [id, logprob] : position.top) {
      std::printf("%s%s %.4f", before, quoted(id).c_str(), logprob);
      before = ", ";
    }
    std::printf("\n");
  }
  std::printf("%zu %s, log-probability %.4f, perplexity %.4f\n", positions.size(),
              positions.size() == 1 ? "token" : "tokens", sum, std::exp(-mean));
  return success();
}

int run(const score_options& o) {
  auto options = actors::options_of(o.model.zoo_model(o.model.path).source);
  if (!options) return fail_with(options.error().message());
  decode::tune_kernels(decode::default_tuning_file());
  auto scorer = decode::scorer::open(o.model.path, options.value(), o.model.context, o.model.threads);
  if (!scorer) return fail_with(scorer.error().message());
  if (o.json_lines) return for_each_json_line([&](const auto& line) { return answer_line(scorer.value(), o, line); });
  const result<std::string> text = o.text ? result<std::string>(*o.text) : read_input();
  if (!text) return fail_with(text.error().message());
  const auto done = score_text(scorer.value(), o, text.value());
  return done ? 0 : fail_with(done.error().message());
}

}  // namespace

void add_score(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("score", "log-probabilities of a text or of given ids, position by position");
  auto o = std::make_shared<score_options>();
  o->model.add_to(*command, true);
  auto* text = command->add_option("TEXT", o->text, "the text; else standard input");
  command->add_option("--top", o->top, "also the N most likely ids of each position");
  auto* lines = command->add_flag("--jsonl", o->json_lines, R"(one {"ids": […]} per line)")->excludes(text);
  command->add_flag("--json", o->json, "one JSON object: ids, positions, sum, perplexity")->excludes(lines);
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace infer::apps
