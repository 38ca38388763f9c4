// One actor per exchange: turns the actors' messages into events of the exchange, and owns nothing else.
#pragma once

#include <caf/actor.hpp>
#include <caf/event_based_actor.hpp>
#include <memory>

#include "actors/gateway/exchange.h"
#include "protocol/interfaces/actors.h"

namespace infer::actors {

/// Both end with `gateway`, after the last event, or when the exchange is cancelled; whichever way they end, the
/// exchange hears of it.
void spawn_event_adaptor(caf::event_based_actor* gateway, std::shared_ptr<exchange> to, const requests_actor& requests);
void spawn_list_adaptor(caf::event_based_actor* gateway, std::shared_ptr<exchange> to, const zoo_actor& zoo);

}  // namespace infer::actors
