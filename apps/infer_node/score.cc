// infer-node score: log-probabilities of given ids, position by position.
#include <boost/json/array.hpp>
#include <memory>

#include "actors/model/footprint.h"
#include "apps/infer_node/commands.h"
#include "apps/infer_node/json_lines.h"
#include "apps/infer_node/model_options.h"
#include "engine/decode/kernel_choice.h"
#include "engine/decode/scorer.h"

namespace infer::apps {
namespace {

struct score_options {
  model_options model;
  std::uint32_t top = 0;
  bool json_lines = false;
};

result<boost::json::object> answer_line(decode::scorer& scorer, const score_options& o,
                                        const boost::json::object& line) {
  INFER_TRY(const auto ids, ids_of(line));
  INFER_TRY(const auto positions, scorer.score(ids, o.top, o.model.batch));
  boost::json::array rows;
  for (const auto& position : positions) {
    boost::json::object row{{"id", position.next.id}, {"logprob", position.next.logprob}};
    boost::json::array top;
    for (const auto& [id, logprob] : position.top) top.push_back(boost::json::array{id, logprob});
    if (o.top > 0) row["top"] = std::move(top);
    rows.push_back(std::move(row));
  }
  return boost::json::object{{"positions", std::move(rows)}};
}

int run(const score_options& o) {
  if (!o.json_lines) return fail_with("score reads JSON lines: add --jsonl");
  auto options = actors::options_of(o.model.zoo_model(o.model.path).source);
  if (!options) return fail_with(options.error().message());
  decode::tune_kernels(decode::default_tuning_file());
  auto scorer = decode::scorer::open(o.model.path, options.value(), o.model.context, o.model.threads);
  if (!scorer) return fail_with(scorer.error().message());
  return for_each_json_line([&](const auto& line) { return answer_line(scorer.value(), o, line); });
}

}  // namespace

void add_score(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("score", "log-probabilities of given ids, position by position");
  auto o = std::make_shared<score_options>();
  o->model.add_to(*command, true);
  command->add_option("--top", o->top, "also the N most likely ids of each position");
  command->add_flag("--jsonl", o->json_lines, R"(one {"ids": […]} per line)");
  command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace infer::apps
