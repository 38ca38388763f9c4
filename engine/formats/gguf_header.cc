// The three parts of a header in their order: preamble, metadata, tensor table; then the table against the file.
#include "engine/formats/gguf_header.h"

#include <array>
#include <bit>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/formats/byte_cursor.h"
#include "engine/formats/foreign_file.h"
#include "engine/formats/gguf_value.h"
#include "engine/formats/quote.h"

namespace infer::formats {
namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint64_t least_key_bytes = 8 + 1 + 4 + 1;         // length, one character, type, one byte
constexpr std::uint64_t least_tensor_bytes = 8 + 1 + 4 + 4 + 8;  // length, one character, rank, type, offset
constexpr std::uint64_t most_alignment = std::uint64_t{1} << 30;

bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

class header_parser {
 public:
  header_parser(byte_view file, std::string_view file_name) : file_(file), from_(file, file_name) {}

  result<gguf_header> parse() {
    INFER_TRYV(read_preamble());
    INFER_TRYV(read_keys());
    INFER_TRYV(read_alignment());
    INFER_TRYV(read_tensors());
    INFER_TRYV(place_tensors());
    return std::move(header_);
  }

 private:
  result<void> read_preamble() {
    const std::string_view head(reinterpret_cast<const char*>(file_.data()), file_.size());
    if (!head.starts_with(magic)) return from_.error_at(fault::not_a_model, describe_foreign(file_));
    static_cast<void>(from_.unchecked_number<std::uint32_t>());
    INFER_TRY(header_.version, from_.number<std::uint32_t>({"the version"}));
    INFER_TRYV(check_version());
    INFER_TRY(tensor_count_, from_.number<std::uint64_t>({"the tensor count"}));
    INFER_TRY(key_count_, from_.number<std::uint64_t>({"the metadata count"}));
    INFER_TRYV(from_.fits(key_count_, least_key_bytes, "keys", {"the metadata table"}));
    return from_.fits(tensor_count_, least_tensor_bytes, "tensors", {"the tensor table"});
  }

  result<void> check_version() const {
    const std::uint32_t version = header_.version;
    if (version == 2 || version == 3) return success();
    if (version != 0 && (version & 0xffffu) == 0) {
      return from_.error_at(fault::unsupported,
                            "this is a GGUF file in big-endian byte order, which is not read; use the little-endian "
                            "file");
    }
    if (version == 1) {
      return from_.error_at(fault::unsupported,
                            "this is GGUF version 1, which is no longer read; convert the original model again");
    }
    return from_.error_at(fault::unsupported, "this is GGUF version " + std::to_string(version) +
                                                  "; versions 2 and 3 are read; update this program or convert the "
                                                  "model to version 3");
  }

  result<void> read_keys() {
    for (std::uint64_t i = 0; i < key_count_; ++i) {
      INFER_TRY(const auto key, from_.string({"the name of a metadata key"}));
      if (key.empty()) {
        return from_.error_at(fault::malformed, "metadata key " + std::to_string(i) + " has no name");
      }
      if (key.size() > most_key_bytes) {
        return from_.error_at(fault::malformed, "the name of the metadata key " + quote(key) + " is " +
                                                    std::to_string(key.size()) + " bytes long; at most " +
                                                    std::to_string(most_key_bytes) + " are allowed");
      }
      INFER_TRY(auto value, read_value(from_, key));
      if (!header_.keys.insert(key, std::move(value))) {
        return from_.error_at(fault::malformed, "the metadata key " + quote(key) + " is there twice");
      }
    }
    return success();
  }

  result<void> read_alignment() {
    if (!header_.keys.contains("general.alignment")) return success();
    auto value = header_.keys.count("general.alignment");
    if (!value) return from_.error_at(fault::wrong_type, value.error().message());
    alignment_ = value.value();
    if (!std::has_single_bit(alignment_) || alignment_ % 8 != 0 || alignment_ > most_alignment) {
      return from_.error_at(fault::malformed, "the metadata key \"general.alignment\" is " +
                                                  std::to_string(alignment_) +
                                                  "; it must be a power of two and a multiple of 8");
    }
    return success();
  }

  result<void> read_tensors() {
    std::unordered_set<std::string_view> names;
    header_.tensors.reserve(tensor_count_);
    for (std::uint64_t i = 0; i < tensor_count_; ++i) {
      INFER_TRY(const auto name, from_.string({"the name of a tensor"}));
      if (name.empty()) return from_.error_at(fault::malformed, "tensor " + std::to_string(i) + " has no name");
      if (name.size() > most_name_bytes) {
        return from_.error_at(fault::malformed, "the tensor name " + quote(name) + " is " +
                                                    std::to_string(name.size()) + " bytes long; at most " +
                                                    std::to_string(most_name_bytes) + " are allowed");
      }
      if (!names.insert(name).second) {
        return from_.error_at(fault::malformed, "the tensor " + quote(name) + " is there twice");
      }
      INFER_TRYV(read_tensor(name));
    }
    return success();
  }

  result<void> read_tensor(std::string_view name) {
    const place where{"the entry of the tensor", name};
    tensor_info tensor;
    tensor.name = name;
    INFER_TRY(tensor.rank, from_.number<std::uint32_t>(where));
    if (tensor.rank > tensor.shape.size()) {
      return from_.error_at(fault::malformed, "the tensor " + quote(name) + " has " + std::to_string(tensor.rank) +
                                                  " dimensions; at most 4 are allowed");
    }
    for (std::uint32_t axis = 0; axis < tensor.rank; ++axis) {
      INFER_TRY(tensor.shape[axis], from_.number<std::uint64_t>(where));
    }
    INFER_TRY(const auto type, from_.number<std::uint32_t>(where));
    INFER_TRY(tensor.offset, from_.number<std::uint64_t>(where));
    const tensor_type_info* info = find_tensor_type(type);
    if (info == nullptr) {
      return from_.error_at(fault::unsupported, "the tensor " + quote(name) + " has the type number " +
                                                    std::to_string(type) +
                                                    ", which is unknown or was removed from the format; update this "
                                                    "program or quantize the model again");
    }
    tensor.type = info->type;
    INFER_TRYV(size_tensor(tensor, *info));
    header_.tensors.push_back(tensor);
    return success();
  }

  /// Sets `bytes`, or says why the shape has no size.
  result<void> size_tensor(tensor_info& tensor, const tensor_type_info& info) const {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t elements = 1;
    for (std::uint32_t axis = 0; axis < tensor.rank; ++axis) {
      const std::uint64_t extent = tensor.shape[axis];
      if (extent == 0) {
        return from_.error_at(fault::malformed, "the tensor " + quote(tensor.name) + " has no elements: dimension " +
                                                    std::to_string(axis) + " is 0");
      }
      if (!multiply(elements, extent, elements) || elements > most) {
        return from_.error_at(fault::malformed, "the shape of the tensor " + quote(tensor.name) +
                                                    " has more elements than 63 bits can count; the file is damaged");
      }
    }
    if (tensor.shape[0] % info.block_elements != 0) {
      return from_.error_at(fault::malformed, "the tensor " + quote(tensor.name) + " has rows of " +
                                                  std::to_string(tensor.shape[0]) + " elements, which are not whole " +
                                                  std::string(info.name) + " blocks of " +
                                                  std::to_string(info.block_elements));
    }
    if (!multiply(elements / info.block_elements, info.block_bytes, tensor.bytes) || tensor.bytes > most) {
      return from_.error_at(fault::malformed, "the tensor " + quote(tensor.name) +
                                                  " has more bytes than 63 bits can count; the file is damaged");
    }
    return success();
  }

  /// Turns offsets into the data into offsets into the file, and checks that all data is there.
  result<void> place_tensors() {
    const std::uint64_t data_start = (from_.position() + alignment_ - 1) / alignment_ * alignment_;
    for (tensor_info& tensor : header_.tensors) {
      if (tensor.offset % alignment_ != 0) {
        return from_.error_at(fault::malformed, "the tensor " + quote(tensor.name) + " lies at the offset " +
                                                    std::to_string(tensor.offset) +
                                                    ", which is not a multiple of the alignment " +
                                                    std::to_string(alignment_));
      }
      std::uint64_t begin = 0, end = 0;
      if (__builtin_add_overflow(data_start, tensor.offset, &begin) ||
          __builtin_add_overflow(begin, tensor.bytes, &end)) {
        return from_.error_at(fault::malformed, "the tensor " + quote(tensor.name) + " lies at the offset " +
                                                    std::to_string(tensor.offset) + ", beyond any file");
      }
      if (end > from_.file_bytes()) {
        return from_.error_at(fault::truncated, "the tensor " + quote(tensor.name) + " ends at byte " +
                                                    std::to_string(end) + ", but the file has " +
                                                    std::to_string(from_.file_bytes()) +
                                                    " bytes; the download is incomplete: fetch it again");
      }
      tensor.offset = begin;
    }
    return success();
  }

  byte_view file_;
  byte_cursor from_;
  gguf_header header_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t key_count_ = 0;
  std::uint64_t alignment_ = 32;
};

}  // namespace

result<gguf_header> parse_gguf_header(byte_view file, std::string_view file_name) {
  return header_parser(file, file_name).parse();
}

}  // namespace infer::formats
