// Scopes while a template runs: their frames, and the names in them.
#include <utility>

#include "engine/templates/evaluator.h"

namespace infer::templates {
namespace {
constexpr std::size_t most_spare_frames = 64;
}  // namespace

// Makes the scope the current one; returns the one before.
std::shared_ptr<frame> evaluator::enter_scope(std::uint32_t slots, std::shared_ptr<frame> parent) {
  std::shared_ptr<frame> inner;
  if (spare_.empty()) {
    inner = std::make_shared<frame>();
  } else {
    inner = std::move(spare_.back());
    spare_.pop_back();
  }
  inner->slots.resize(slots);
  inner->parent = std::move(parent);
  return std::exchange(scope_, std::move(inner));
}

void evaluator::leave_scope(std::shared_ptr<frame> outer) {
  const auto inner = std::exchange(scope_, std::move(outer));
  if (inner.use_count() != 1 || spare_.size() >= most_spare_frames) return;  // a macro keeps it
  inner->slots.clear();
  inner->parent.reset();
  spare_.push_back(inner);
}

// The current scope with nothing assigned: the next round of a loop.
void evaluator::renew_scope(std::uint32_t slots) {
  if (scope_.use_count() != 1) {
    enter_scope(slots, scope_->parent);  // a macro keeps the one before
    return;
  }
  for (auto& slot : scope_->slots) slot.reset();
}

const value* evaluator::find_name(const expression& what) const {
  const name_resolution& name = *what.resolved.name;
  const frame* at = scope_.get();
  std::uint32_t out = 0;
  for (const name_place& place : name.places) {
    for (; out < place.scopes_out; ++out) at = at->parent.get();
    if (const auto& slot = at->slots[place.slot]) return &*slot;
  }
  const auto& variable = variables_[name.variable];
  return variable ? &*variable : nullptr;
}

}  // namespace infer::templates
