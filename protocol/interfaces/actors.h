// Every typed actor interface on one page. The hottest message of each comes first. Sources that define behaviours or
// send include this.
#pragma once

#include <caf/typed_actor.hpp>

#include "protocol/messages/leases.h"
#include "protocol/messages/loading.h"
#include "protocol/messages/memory.h"
#include "protocol/messages/models.h"
#include "protocol/messages/prompts.h"
#include "protocol/messages/requests.h"
#include "protocol/messages/streams.h"
#include "protocol/messages/subtree.h"
#include "protocol/messages/tree.h"

namespace infer {

// What a request listens to from the sink of its events.
using request_control = caf::typed_actor<caf::reacts_to<msg::taken>,  // sink: bytes have left the process; gives credit
                                         caf::reacts_to<msg::cancel_request>>;  // sink: the client is gone

// Where the events of a request go: the gateway's adaptor, or an embedding program's actor.
using event_sink =
    caf::typed_actor<caf::reacts_to<msg::text_made>, caf::reacts_to<msg::choice_finished>,
                     caf::reacts_to<msg::request_started>, caf::reacts_to<msg::request_finished>,
                     caf::reacts_to<msg::request_failed>, caf::reacts_to<msg::request_waiting>,
                     caf::reacts_to<msg::request_accepted, request_control>, caf::reacts_to<msg::text_transformed>>;

// What a request listens to from a model's port.
using stream_sink = caf::typed_actor<caf::reacts_to<msg::tokens_made>, caf::reacts_to<msg::stream_opened>,
                                     caf::reacts_to<msg::stream_refused>, caf::reacts_to<msg::stream_closed>,
                                     caf::reacts_to<msg::stream_lost>, caf::reacts_to<msg::prompt_encoded>,
                                     caf::reacts_to<msg::prompt_refused>, caf::reacts_to<msg::ids_decoded>>;

// A model's port: the only address of a model that outsiders know.
using port_actor =
    caf::typed_actor<caf::reacts_to<msg::grant>,                       // request: credit
                     caf::reacts_to<msg::open_stream, stream_sink>,    // request → stream_opened | stream_refused
                     caf::reacts_to<msg::close_stream>,                // request → stream_closed
                     caf::reacts_to<msg::encode_prompt, stream_sink>,  // request → prompt_encoded | prompt_refused
                     caf::reacts_to<msg::decode_ids, stream_sink>>;    // request → ids_decoded | prompt_refused

// What a request listens to from the zoo.
using lease_sink = caf::typed_actor<caf::reacts_to<msg::lease_granted, port_actor>, caf::reacts_to<msg::lease_waiting>,
                                    caf::reacts_to<msg::lease_refused>, caf::reacts_to<msg::who_holds>>;

// Where answers of the zoo to administrators go.
using admin_sink = caf::typed_actor<caf::reacts_to<msg::model_list>, caf::reacts_to<msg::model_changed>>;

// The zoo: which models exist, who holds them.
using zoo_actor = caf::typed_actor<caf::reacts_to<msg::acquire, lease_sink>,  // request → lease_granted |
                                                                              // lease_waiting… | lease_refused
                                   caf::reacts_to<msg::release>,              // request
                                   caf::reacts_to<msg::announce, lease_sink, port_actor>,  // request, to a new zoo
                                   caf::reacts_to<msg::list_models, admin_sink>,           // → model_list
                                   caf::reacts_to<msg::load_model, admin_sink>,            // → model_changed
                                   caf::reacts_to<msg::unload_model, admin_sink>>;         // → model_changed

// The front of requests: spawns one actor per request.
using requests_actor =
    caf::typed_actor<caf::reacts_to<msg::generate, event_sink>,  // gateway, embedder → request_accepted, then events
                     caf::reacts_to<msg::who_holds>>;            // zoo, after its restart: passed to every request

// What the zoo listens to from the ledger.
using claimant = caf::typed_actor<caf::reacts_to<msg::claim_granted>, caf::reacts_to<msg::claim_waiting>,
                                  caf::reacts_to<msg::claim_refused>>;

// The ledger: claims on memory, in order of arrival.
using ledger_actor =
    caf::typed_actor<caf::reacts_to<msg::claim_memory, claimant>,  // zoo → claim_waiting? claim_granted | claim_refused
                     caf::reacts_to<msg::cancel_claim>,
                     caf::reacts_to<msg::memory_freed>>;  // the budget object

// What the zoo listens to from the loader.
using loader_sink =
    caf::typed_actor<caf::reacts_to<msg::load_progress>, caf::reacts_to<msg::model_measured>,
                     caf::reacts_to<msg::model_loaded, msg::model_handle>, caf::reacts_to<msg::load_failed>>;

// The loader: files to loaded models, one own-thread worker per load.
using loader_actor =
    caf::typed_actor<caf::reacts_to<msg::measure_model, loader_sink>,  // → model_measured | load_failed
                     caf::reacts_to<msg::load_weights, loader_sink>,   // → load_progress… model_loaded | load_failed
                     caf::reacts_to<msg::cancel_load>>;

// What the zoo listens to from the supervisor of models.
using models_sink =
    caf::typed_actor<caf::reacts_to<msg::model_started, port_actor, msg::model_watch>, caf::reacts_to<msg::model_down>>;

// The supervisor of models: one subtree per loaded model.
using models_actor =
    caf::typed_actor<caf::reacts_to<msg::start_model, msg::model_handle, models_sink>,  // → model_started | model_down
                     caf::reacts_to<msg::stop_model>,                                   // → model_down
                     caf::reacts_to<msg::who_runs, models_sink>>;  // a new zoo → model_started for each

// Inside a model's subtree.
using raw_token_sink = caf::typed_actor<caf::reacts_to<msg::raw_tokens>, caf::reacts_to<msg::stream_opened>,
                                        caf::reacts_to<msg::stream_refused>>;

using decode_actor =
    caf::typed_actor<caf::reacts_to<msg::make_step>, caf::reacts_to<msg::grant>,
                     caf::reacts_to<msg::open_stream, msg::stream_slot, raw_token_sink>,  // port → stream_opened,
                                                                                          // raw_tokens… |
                                                                                          // stream_refused
                     caf::reacts_to<msg::close_stream>>;

using tokenizer_actor = caf::typed_actor<
    // port; a refusal whose request_id is 0 is none
    caf::replies_to<msg::encode_prompt>::with<msg::prompt_encoded, msg::prompt_refused>,
    caf::replies_to<msg::decode_ids>::with<msg::ids_decoded>>;

using sessions_actor =
    caf::typed_actor<caf::replies_to<msg::find_prefix>::with<msg::prefix_found>>;  // port; a prefix that decode can
                                                                                   // start from

}  // namespace infer
