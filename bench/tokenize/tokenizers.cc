// tokenizers CSV TEXT FILE...: how fast vocabularies encode an English text and megabytes of one character, on one
// core.
//
// FILE is a GGUF file or a tokenizer.json. A megabyte of one character is encoded half and whole, whose times should
// differ by two.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/csv.h"
#include "bench/support/machine.h"
#include "engine/formats/gguf.h"
#include "engine/tokenize/tokenizer.h"
#include "engine/tokenize/tokenizer_json.h"

namespace infer::bench {
namespace {

constexpr std::uint32_t runs = 5;
constexpr std::size_t least_text = 4 << 20, megabyte = 1 << 20;

struct one_character {
  const char* name;
  const char* unit;
};
constexpr one_character worst[] = {{"letters", "a"},   {"spaces", " "},         {"marks", "\xCC\x81"},
                                   {"newlines", "\n"}, {"han", "\xE4\xB8\xAD"}, {"signs", "!"}};

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

result<std::shared_ptr<const tokenize::tokenizer>> open(const std::filesystem::path& path) {
  if (path.extension() == ".json") {
    INFER_TRY(const auto file, tokenize::read_tokenizer_json(read_whole(path)));
    return tokenize::tokenizer::make(file.data);
  }
  INFER_TRY(auto file, formats::gguf_file::open(path));
  INFER_TRY(const auto data, tokenize::read_vocabulary(file.keys()));
  return tokenize::tokenizer::make(data);
}

/// Megabytes per second.
double speed_of(const tokenize::tokenizer& with, std::string_view text) {
  const auto from = std::chrono::steady_clock::now();
  const auto ids = with.encode(text, false);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
  return ids.empty() ? 0 : static_cast<double>(text.size()) / took.count() * 1e-6;
}

void report(csv_file& csv, const std::string& file, const std::string& what, const tokenize::tokenizer& with,
            std::string_view text) {
  std::vector<double> values;
  for (std::uint32_t run = 0; run < runs; ++run) {
    values.push_back(speed_of(with, text));
    csv.add("encode", "file=" + file + " text=" + what, run, values.back(), "MB/s");
  }
  std::printf("  %-20s %8.1f MB/s\n", what.c_str(), median(values));
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: tokenizers CSV TEXT FILE...\n");
    return 2;
  }
  csv_file csv(argv[1], command_of(argc, argv));
  const std::string once = read_whole(argv[2]);
  if (once.empty()) {
    std::fprintf(stderr, "tokenizers: %s has no text\n", argv[2]);
    return 1;
  }
  std::string english;
  while (english.size() < least_text) english += once;
  for (int i = 3; i < argc; ++i) {
    const auto from = std::chrono::steady_clock::now();
    const auto with = open(argv[i]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
    if (!with) {
      std::fprintf(stderr, "tokenizers: %s: %s\n", argv[i], with.error().message().c_str());
      return 1;
    }
    std::printf("%s: %zu tokens, opened in %.0f ms\n", argv[i], with.value()->size(), took.count() * 1e3);
    report(csv, argv[i], "english", *with.value(), english);
    for (const one_character& row : worst) {
      std::string text;
      while (text.size() < megabyte) text += row.unit;
      report(csv, argv[i], std::string("half ") + row.name, *with.value(),
             std::string_view(text).substr(0, text.size() / 2));
      report(csv, argv[i], row.name, *with.value(), text);
    }
  }
  return 0;
}

}  // namespace
}  // namespace infer::bench

int main(int argc, char** argv) {
  return infer::bench::run(argc, argv);
}
