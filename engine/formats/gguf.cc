// Opening: map, parse, gather the parts of a split model. The header itself is gguf_header.cc's.
#include "engine/formats/gguf.h"

#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/formats/gguf_header.h"
#include "engine/formats/mapped_file.h"
#include "engine/formats/quote.h"
#include "engine/formats/shard_name.h"

namespace infer::formats {

struct gguf_file::impl {
  std::vector<mapped_file> files;  // empty where the bytes are the caller's
  std::vector<byte_view> bytes;    // one per part
  std::uint32_t version = 0;
  metadata keys;
  std::vector<tensor_info> tensors;
  std::unordered_map<std::string_view, std::size_t> by_name;

  /// Maps and appends parts 2 to `count` of the split model whose part 1 was added from `path`.
  result<void> add_other_parts(const gguf_header& first, std::uint64_t count, const std::filesystem::path& path);
  /// Appends the tensors of the next part.
  result<void> add(byte_view part, std::vector<tensor_info> more, const std::string& file_name) {
    const auto shard = static_cast<std::uint32_t>(bytes.size());
    bytes.push_back(part);
    tensors.reserve(tensors.size() + more.size());
    for (tensor_info& tensor : more) {
      if (!by_name.try_emplace(tensor.name, tensors.size()).second) {
        return fail(fault::malformed, file_name + ": the tensor " + quote(tensor.name) +
                                          " is in an earlier part of the split model, too");
      }
      tensor.shard = shard;
      tensors.push_back(tensor);
    }
    return success();
  }
};

namespace {

/// Errors of single keys name no file: put it in front.
template <class T>
result<T> in_file(const std::string& file_name, result<T> outcome) {
  if (outcome) return outcome;
  return fail(error{outcome.error().code, file_name + ": " + outcome.error().message()});
}

result<std::uint64_t> split_key(const gguf_header& header, const char* key, const std::string& file_name) {
  return in_file(file_name, header.keys.count(key));
}

/// How many parts the model of this header has; 1 where it is not split.
result<std::uint64_t> part_count(const gguf_header& header, const std::string& file_name) {
  if (!header.keys.contains("split.count")) return std::uint64_t{1};
  INFER_TRY(const auto count, split_key(header, "split.count", file_name));
  return count == 0 ? 1 : count;
}

/// Checks that a part is the one its name says: `number` from 1.
result<void> check_part(const gguf_header& header, const shard_name& name, const std::string& file_name) {
  INFER_TRY(const auto number, split_key(header, "split.no", file_name));
  INFER_TRY(const auto count, split_key(header, "split.count", file_name));
  if (number + 1 != name.number || count != name.count) {
    return fail(fault::malformed, file_name + ": by its name this is part " + std::to_string(name.number) + " of " +
                                      std::to_string(name.count) + ", but its keys split.no and split.count are " +
                                      std::to_string(number) + " (counted from 0) and " + std::to_string(count) +
                                      "; give the parts their original names");
  }
  return success();
}

/// The name of part one, or why the parts cannot be found from `path`.
result<shard_name> first_part_name(const gguf_header& header, std::uint64_t count, const std::filesystem::path& path) {
  const std::string file_name = path.string();
  INFER_TRY(const auto number, split_key(header, "split.no", file_name));
  auto name = parse_shard_name(path.filename().string());
  if (!name) {
    return fail(fault::malformed, file_name + ": this is part " + std::to_string(number + 1) + " of " +
                                      std::to_string(count) +
                                      " of a split model, but its name does not end in -00001-of-" +
                                      shard_name{"", 1, static_cast<std::uint32_t>(count)}.text().substr(10) +
                                      "; give the parts their original names");
  }
  INFER_TRYV(check_part(header, *name, file_name));
  if (name->number != 1) {
    return fail(fault::unsupported, file_name + ": this is part " + std::to_string(name->number) + " of " +
                                        std::to_string(name->count) + " of a split model; open part 1, " +
                                        name->with_number(1).text());
  }
  return *std::move(name);
}

}  // namespace

result<void> gguf_file::impl::add_other_parts(const gguf_header& first, std::uint64_t count,
                                              const std::filesystem::path& path) {
  INFER_TRY(const auto name, first_part_name(first, count, path));
  for (std::uint32_t number = 2; number <= name.count; ++number) {
    const shard_name part_name = name.with_number(number);
    const std::filesystem::path part_path = path.parent_path() / part_name.text();
    std::error_code ignored;
    if (!std::filesystem::exists(part_path, ignored)) {
      return fail(fault::missing_shard, part_path.string() + ": part " + std::to_string(number) + " of " +
                                            std::to_string(name.count) +
                                            " of the split model is missing; put it beside part 1");
    }
    INFER_TRY(auto part, mapped_file::open(part_path));
    INFER_TRY(auto header, parse_gguf_header(part.bytes(), part_path.string()));
    INFER_TRYV(check_part(header, part_name, part_path.string()));
    INFER_TRYV(add(part.bytes(), std::move(header.tensors), part_path.string()));
    files.push_back(std::move(part));
  }
  if (!first.keys.contains("split.tensors.count")) return success();
  INFER_TRY(const auto promised, split_key(first, "split.tensors.count", path.string()));
  if (promised != tensors.size()) {
    return fail(fault::malformed, path.string() + ": the key split.tensors.count promises " + std::to_string(promised) +
                                      " tensors, but the parts hold " + std::to_string(tensors.size()) +
                                      "; the parts belong to different models or one is damaged");
  }
  return success();
}

gguf_file::gguf_file(std::unique_ptr<impl> state) : impl_(std::move(state)) {}
gguf_file::gguf_file(gguf_file&&) noexcept = default;
gguf_file& gguf_file::operator=(gguf_file&&) noexcept = default;
gguf_file::~gguf_file() = default;

result<gguf_file> gguf_file::open(const std::filesystem::path& path) {
  auto state = std::make_unique<impl>();
  INFER_TRY(auto file, mapped_file::open(path));
  INFER_TRY(auto header, parse_gguf_header(file.bytes(), path.string()));
  INFER_TRY(const auto count, part_count(header, path.string()));
  state->version = header.version;
  INFER_TRYV(state->add(file.bytes(), std::move(header.tensors), path.string()));
  state->files.push_back(std::move(file));
  if (count > 1) {
    INFER_TRYV(state->add_other_parts(header, count, path));
  }
  state->keys = std::move(header.keys);
  return gguf_file(std::move(state));
}

result<gguf_file> gguf_file::from_memory(byte_view bytes) {
  const std::string file_name = "the model in memory";
  auto state = std::make_unique<impl>();
  INFER_TRY(auto header, parse_gguf_header(bytes, file_name));
  INFER_TRY(const auto count, part_count(header, file_name));
  if (count > 1) {
    return fail(fault::unsupported, file_name + ": this is one part of a split model; open part 1 from its folder");
  }
  state->version = header.version;
  INFER_TRYV(state->add(bytes, std::move(header.tensors), file_name));
  state->keys = std::move(header.keys);
  return gguf_file(std::move(state));
}

std::uint32_t gguf_file::version() const {
  return impl_->version;
}

const metadata& gguf_file::keys() const {
  return impl_->keys;
}

std::span<const tensor_info> gguf_file::tensors() const {
  return impl_->tensors;
}

const tensor_info* gguf_file::find(std::string_view name) const {
  const auto at = impl_->by_name.find(name);
  return at == impl_->by_name.end() ? nullptr : &impl_->tensors[at->second];
}

byte_view gguf_file::data(const tensor_info& tensor) const {
  return impl_->bytes[tensor.shard].subspan(tensor.offset, tensor.bytes);
}

std::size_t gguf_file::parts() const {
  return impl_->bytes.size();
}

std::uint64_t gguf_file::file_bytes() const {
  std::uint64_t sum = 0;
  for (const byte_view part : impl_->bytes) sum += part.size();
  return sum;
}

void gguf_file::release(byte_view bytes) const {
  for (const mapped_file& file : impl_->files) file.drop(bytes);
}

}  // namespace infer::formats
