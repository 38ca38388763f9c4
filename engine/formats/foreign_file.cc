// Magic numbers of other formats, and the first words of texts.
#include "engine/formats/foreign_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace infer::formats {
namespace {

struct magic {
  std::string_view bytes;
  const char* sentence;
};

constexpr const char* old_ggml =
    "an old ggml file (before GGUF), which is no longer read; convert the original model to GGUF again";
constexpr const char* pickle =
    "a PyTorch checkpoint, not a GGUF model; convert it with llama.cpp's convert_hf_to_gguf.py";

constexpr std::array magics{
    magic{"version https://git-lfs", "a git-LFS pointer, not the model itself; fetch it with `git lfs pull`"},
    magic{"lmgg", old_ggml},
    magic{"ggml", old_ggml},
    magic{"fmgg", old_ggml},
    magic{"ggmf", old_ggml},
    magic{"tjgg", old_ggml},
    magic{"ggjt", old_ggml},
    magic{"algg", old_ggml},
    magic{"ggla", old_ggml},
    magic{"FUGG", "a GGUF file in big-endian byte order, which is not read; use the little-endian file"},
    magic{"PK\x03\x04", "a zip archive, perhaps a PyTorch checkpoint, not a GGUF model; unpack it or convert it"},
    magic{"\x80\x02", pickle},
    magic{"\x80\x03", pickle},
    magic{"\x80\x04", pickle},
    magic{"\x1f\x8b", "a gzip archive; unpack it first"},
    magic{"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"},
    magic{"\xfd"
          "7zXZ",
          "an xz archive; unpack it first"},
    magic{"7z\xbc\xaf", "a 7z archive; unpack it first"},
    magic{"\x89HDF", "an HDF5 file, not a GGUF model; convert the original model to GGUF"},
};

/// The first bytes as lower-case text, without leading blanks.
std::string first_words(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (start == std::string_view::npos) return {};
  std::string words(head.substr(start, 16));
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return words;
}

bool is_safetensors(byte_view file) {
  if (file.size() < 10) return false;
  const auto header_bytes = load_le<std::uint64_t>(file.data());
  return header_bytes < file.size() && file[8] == std::byte{'{'};
}

std::string hex(byte_view bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    std::array<char, 4> text{};
    std::snprintf(text.data(), text.size(), "%02x ", std::to_integer<unsigned>(byte));
    out += text.data();
  }
  if (!out.empty()) out.pop_back();
  return out;
}

/// The sentence about another format than GGUF, for a file that should have been safetensors.
std::string for_safetensors(std::string sentence) {
  constexpr std::string_view gguf = "not a GGUF model";
  if (const auto at = sentence.find(gguf); at != std::string::npos)
    sentence.replace(at, gguf.size(), "not a safetensors file");
  return sentence;
}

std::string first_bytes(byte_view file) {
  return hex(file.first(std::min<std::size_t>(file.size(), 8)));
}

}  // namespace

std::string describe_foreign(byte_view file, wanted_format wanted) {
  const bool gguf = wanted == wanted_format::gguf;
  if (file.empty()) return "the file is empty; download it again";
  const std::string_view head(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 64));
  for (const magic& known : magics) {
    if (!head.starts_with(known.bytes)) continue;
    const std::string sentence = std::string("this is ") + known.sentence;
    return gguf ? sentence : for_safetensors(sentence);
  }
  const std::string words = first_words(head);
  if (words.starts_with("<!doctype") || words.starts_with("<html") || words.starts_with("<?xml")) {
    return "this is a web page, not a model; the download went wrong (a log-in page, or a link to a page)";
  }
  if (gguf && is_safetensors(file)) {
    return "this is a safetensors file, not a GGUF model; convert it with llama.cpp's convert_hf_to_gguf.py";
  }
  if (words.starts_with("{") || words.starts_with("["))
    return std::string("this is a JSON text, not a ") + (gguf ? "GGUF model" : "safetensors file");
  if (!gguf && head.starts_with("GGUF")) return "this is a GGUF model, not a safetensors file; name it .gguf";
  if (!gguf)
    return "this is not a safetensors file, or a damaged one: it begins with the bytes " + first_bytes(file) +
           " where the length of its header is expected; download it again";
  if (std::string_view("GGUF").starts_with(head)) return "the file ends inside its first four bytes; download it again";
  return "this is not a GGUF model: it begins with the bytes " +
         hex(file.first(std::min<std::size_t>(file.size(), 4))) + " instead of 47 47 55 46 (\"GGUF\")";
}

}  // namespace infer::formats
