// Registration of the message types.
#include "protocol/messages/type_ids.h"

#include <caf/all.hpp>

namespace infer {

void register_messages(caf::actor_system_config& config) {
  config.add_message_types<caf::id_block::infer>();
}

}  // namespace infer
