// The layout of GGUF, written front to back.
#include "tests/support/gguf_writer.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "engine/formats/shard_name.h"

namespace infer::test_support {
namespace {

template <class T>
void append(std::vector<std::byte>& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void append_bytes(std::vector<std::byte>& out, byte_view bytes) {
  const std::size_t at = out.size();
  out.resize(at + bytes.size());
  std::ranges::copy(bytes, out.begin() + static_cast<std::ptrdiff_t>(at));
}

void append_string(std::vector<std::byte>& out, std::string_view text) {
  append<std::uint64_t>(out, text.size());
  append_bytes(out, bytes_of(text));
}

void pad(std::vector<std::byte>& out, std::size_t alignment) {
  out.resize((out.size() + alignment - 1) / alignment * alignment);
}

constexpr std::uint32_t string_type = 8;
constexpr std::uint32_t array_type = 9;

}  // namespace

gguf_writer& gguf_writer::version(std::uint32_t number) {
  version_ = number;
  return *this;
}

gguf_writer& gguf_writer::alignment(std::uint32_t bytes) {
  alignment_ = bytes;
  return bytes == 32 ? *this : add_key("general.alignment", bytes);
}

gguf_writer& gguf_writer::claim_counts(std::uint64_t tensors, std::uint64_t keys) {
  counts_ = {tensors, keys};
  return *this;
}

gguf_writer& gguf_writer::add_raw_key(std::string_view key, std::uint32_t type, byte_view value) {
  keys_.push_back({std::string(key), type, {value.begin(), value.end()}});
  return *this;
}

template <class T>
gguf_writer& gguf_writer::add_scalar(std::string_view key, std::uint32_t type, T value) {
  std::vector<std::byte> bytes;
  append(bytes, value);
  return add_raw_key(key, type, bytes);
}

template <class T>
gguf_writer& gguf_writer::add_array(std::string_view key, std::uint32_t type, const std::vector<T>& values) {
  std::vector<std::byte> bytes;
  append(bytes, type);
  append<std::uint64_t>(bytes, values.size());
  for (const auto& value : values) {
    if constexpr (std::is_same_v<T, std::string>) {
      append_string(bytes, value);
    } else {
      append<T>(bytes, value);
    }
  }
  return add_raw_key(key, array_type, bytes);
}

// One pair of overloads per number type of the format.
#define INFER_WRITER_TYPE(cpp_type, number)                                                      \
  gguf_writer& gguf_writer::add_key(std::string_view key, cpp_type value) {                      \
    return add_scalar(key, number, value);                                                       \
  }                                                                                              \
  gguf_writer& gguf_writer::add_key(std::string_view key, const std::vector<cpp_type>& values) { \
    return add_array(key, number, values);                                                       \
  }
INFER_WRITER_TYPE(std::uint8_t, 0)
INFER_WRITER_TYPE(std::int8_t, 1)
INFER_WRITER_TYPE(std::uint16_t, 2)
INFER_WRITER_TYPE(std::int16_t, 3)
INFER_WRITER_TYPE(std::uint32_t, 4)
INFER_WRITER_TYPE(std::int32_t, 5)
INFER_WRITER_TYPE(float, 6)
INFER_WRITER_TYPE(bool, 7)
INFER_WRITER_TYPE(std::uint64_t, 10)
INFER_WRITER_TYPE(std::int64_t, 11)
INFER_WRITER_TYPE(double, 12)
#undef INFER_WRITER_TYPE

gguf_writer& gguf_writer::add_key(std::string_view key, std::string_view value) {
  std::vector<std::byte> bytes;
  append_string(bytes, value);
  return add_raw_key(key, string_type, bytes);
}

gguf_writer& gguf_writer::add_key(std::string_view key, const std::vector<std::string>& values) {
  return add_array(key, string_type, values);
}

gguf_writer& gguf_writer::add_tensor(std::string_view name, tensor_type type, std::vector<std::uint64_t> shape,
                                     byte_view bytes) {
  tensors_.push_back({std::string(name),
                      static_cast<std::uint32_t>(type),
                      std::move(shape),
                      {bytes.begin(), bytes.end()},
                      std::nullopt});
  return *this;
}

gguf_writer& gguf_writer::add_tensor(std::string_view name, std::vector<std::uint64_t> shape,
                                     std::span<const float> values) {
  return add_tensor(name, tensor_type::f32, std::move(shape), std::as_bytes(values));
}

gguf_writer& gguf_writer::add_raw_tensor(std::string_view name, std::uint32_t type, std::vector<std::uint64_t> shape,
                                         std::uint64_t offset) {
  tensors_.push_back({std::string(name), type, std::move(shape), {}, offset});
  return *this;
}

std::vector<std::byte> gguf_writer::build() const {
  std::vector<std::byte> out;
  append_bytes(out, bytes_of("GGUF"));
  append(out, version_);
  append<std::uint64_t>(out, counts_ ? counts_->first : tensors_.size());
  append<std::uint64_t>(out, counts_ ? counts_->second : keys_.size());
  for (const key_value& entry : keys_) {
    append_string(out, entry.key);
    append(out, entry.type);
    append_bytes(out, entry.value);
  }
  std::vector<std::byte> data;
  for (const tensor& entry : tensors_) {
    append_string(out, entry.name);
    append(out, static_cast<std::uint32_t>(entry.shape.size()));
    for (const std::uint64_t extent : entry.shape) append(out, extent);
    append(out, entry.type);
    append<std::uint64_t>(out, entry.offset.value_or(data.size()));
    append_bytes(data, entry.bytes);
    pad(data, alignment_);
  }
  pad(out, alignment_);
  append_bytes(out, data);
  return out;
}

void gguf_writer::write(const std::filesystem::path& path) const {
  write_bytes(path, build());
}

std::vector<std::filesystem::path> gguf_writer::write_split(const std::filesystem::path& folder,
                                                            const std::string& prefix, std::uint16_t parts) const {
  std::vector<std::filesystem::path> paths;
  std::size_t taken = 0;
  for (std::uint16_t part = 0; part < parts; ++part) {
    gguf_writer writer;
    writer.version_ = version_;
    writer.alignment_ = alignment_;
    if (part == 0) {
      writer.keys_ = keys_;
    } else if (alignment_ != 32) {
      writer.add_key("general.alignment", alignment_);
    }
    writer.add_key("split.no", part).add_key("split.count", parts);
    writer.add_key("split.tensors.count", static_cast<std::int32_t>(tensors_.size()));
    const std::size_t end = tensors_.size() * (part + 1u) / parts;
    for (; taken < end; ++taken) writer.tensors_.push_back(tensors_[taken]);
    paths.push_back(folder / formats::shard_name{prefix, part + 1u, parts}.text());
    writer.write(paths.back());
  }
  return paths;
}

void write_bytes(const std::filesystem::path& path, byte_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace infer::test_support
