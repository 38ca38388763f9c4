// Loading.
#include "actors/loader/load_model.h"

#include <algorithm>

#include "engine/formats/chat_source.h"
#include "engine/formats/model_file.h"
#include "engine/tokenize/model_tokenizer.h"

namespace infer::actors {
namespace {

struct opened_model {
  std::shared_ptr<const formats::model_file> file;
  models::model model;
  plan::program_options options;
  footprint bytes;
};

result<opened_model> open(const msg::model_source& source) {
  INFER_TRY(auto options, options_of(source));
  INFER_TRY(auto file, formats::open_model(source.path));
  INFER_TRY(auto model, models::build(file));
  if (const std::uint32_t most = model.plan.most_positions; most != 0 && source.context > most)
    return fail(plan::fault::unsupported, "a context of " + std::to_string(source.context) +
                                              " positions is more than the " + std::to_string(most) +
                                              " that the model is made for");
  const footprint bytes = footprint_of(model, source, options);
  return opened_model{std::move(file), std::move(model), options, bytes};
}

void take_template(const std::string& text, talk_template& into) {
  if (text.empty()) return;
  auto compiled = templates::chat_template::compile(text);
  if (!compiled) {
    into.fault = compiled.error().message();
    return;
  }
  into.chat = std::move(compiled.value());
  into.abilities = templates::probe(*into.chat);
}

result<void> load_text(const formats::model_file& file, model_core& core) {
  INFER_TRY(core.tokenizer, tokenize::make_tokenizer(file, core.model.plan.vocabulary));
  INFER_TRY(const formats::chat_templates texts, formats::chat_templates_of(file));
  core.template_text = texts.text;
  // A template that this interpreter cannot read must not keep the model from answering completions.
  take_template(texts.text, core.talk);
  take_template(texts.tool_use, core.tool_talk);
  return success();
}

result<memory::memory_lease> take(const load_resources& from, memory::memory_kind kind, std::uint64_t bytes) {
  auto lease = from.budget->take_earmarked(from.claim_id, kind, bytes);
  if (!lease) {
    return fail(
        error{std::make_error_code(std::errc::not_enough_memory),
              format_bytes(bytes) + " for " + std::string(memory::name_of(kind)) + " are not set aside any more"});
  }
  return std::move(*lease);
}

/// The page pool: the floor from the claim, and addresses for every slot; decode takes what is free as it needs it.
result<void> make_pages(model_core& core, const opened_model& opened, const load_resources& resources) {
  INFER_TRY(auto floor, take(resources, memory::memory_kind::kv, opened.bytes.kv_per_sequence));
  core.leases.push_back(std::move(floor));
  const std::vector<plan::state_group>& groups = core.model.plan.groups;
  INFER_TRY(core.pages,
            memory::page_pool::make(groups, opened.options.keys, opened.options.values, opened.bytes.context,
                                    opened.options.max_batch_tokens, std::max(core.source.slots, 1u)));
  core.prefixes.emplace(core.pages, groups);
  core.counters.pages_total = core.pages.all_pages();
  core.counters.pages_free = core.pages.all_pages();
  return success();
}

}  // namespace

result<measured_model> measure(const msg::model_source& source) {
  INFER_TRY(const auto opened, open(source));
  return measured_model{opened.bytes, opened.model.plan.trained_context};
}

result<std::shared_ptr<model_core>> load(const msg::model_source& source, std::uint32_t generation,
                                         const load_resources& resources,
                                         const std::function<void(std::uint32_t)>& progress,
                                         const cancel_flag& cancel) {
  progress(0);
  INFER_TRY(auto opened, open(source));
  auto core = std::make_shared<model_core>();
  core->source = source;
  core->generation = generation;
  core->context = opened.bytes.context;
  core->hooks = resources.hooks;
  core->lane = resources.lane;
  core->executor = std::make_unique<decode::cpu_executor>(kernels::best_ops(), core->lane);
  core->budget = resources.budget;
  core->model = std::move(opened.model);
  INFER_TRYV(load_text(*opened.file, *core));
  INFER_TRY(auto weights, take(resources, memory::memory_kind::weights, opened.bytes.weights));
  core->leases.push_back(std::move(weights));
  INFER_TRY(auto scratch, take(resources, memory::memory_kind::scratch, opened.bytes.scratch));
  core->leases.push_back(std::move(scratch));
  INFER_TRY(auto text, take(resources, memory::memory_kind::buffers, opened.bytes.text));
  core->leases.push_back(std::move(text));
  INFER_TRYV(make_pages(*core, opened, resources));
  INFER_TRY(const auto transient, take(resources, memory::memory_kind::load_transient, opened.bytes.transient));
  std::uint32_t reported = 0;
  const auto packed = [&](std::uint64_t done, std::uint64_t total) {
    const auto percent = static_cast<std::uint32_t>(done * 99 / std::max<std::uint64_t>(total, 1));
    if (percent >= reported + 5) progress(reported = percent);
  };
  INFER_TRY(core->program, core->executor->prepare(core->model.plan, core->model.weights, core->pages, opened.options,
                                                   {packed, &cancel}));
  if (cancel.is_set())
    return fail(error{std::make_error_code(std::errc::operation_canceled), "the load was cancelled"});
  progress(100);
  return core;
}

}  // namespace infer::actors
