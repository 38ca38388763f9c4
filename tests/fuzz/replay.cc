// Runs a fuzz target over its corpus as a normal test: every file, every beginning of it, and every byte of it changed.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// What is put in the place of a byte: ends of structures, signs of three grammars, and no UTF-8.
constexpr char replacements[] = {'\0', '"', '{', '}', '[', '%', '\\', '-', '9', '\x80', '\xff'};
/// Files up to this size are varied byte by byte.
constexpr std::size_t varied_size = 2048;

std::size_t runs = 0;

void touch(const std::string& input) {
  ++runs;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

void replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string input{std::istreambuf_iterator<char>(in), {}};
  touch(input);
  if (input.size() > varied_size) return;
  for (std::size_t size = 0; size < input.size(); ++size) touch(input.substr(0, size));
  for (char& byte : input) {
    const char kept = byte;
    for (const char other : replacements) {
      byte = other;
      touch(input);
    }
    byte = kept;
  }
}

}  // namespace

/// A finding ends the process; an empty corpus is a failure.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: replay FOLDER\n";
    return 2;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::cout << entry.path().filename().string() << std::endl;
    replay(entry.path());
    ++files;
  }
  std::cout << files << " files, " << runs << " runs\n";
  return files == 0 ? 1 : 0;
}
