// render FOLDER [CSV]: how long each chat template of a folder takes for a conversation of 100 messages.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/support/csv.h"
#include "bench/support/machine.h"
#include "engine/templates/chat_prompt.h"

namespace infer::bench {
namespace {

constexpr std::uint32_t runs = 5, renders = 20;
constexpr int messages = 100;

templates::chat_input long_talk() {
  templates::chat_input input;
  for (int i = 0; i < messages; ++i) {
    const std::string text = "Message " + std::to_string(i) + " of a long conversation, about as long as people write.";
    input.turns.push_back({i % 2 == 0 ? "user" : "assistant", text, {}});
  }
  return input;
}

/// Milliseconds for one rendering, the mean of several.
double measure(const templates::chat_template& chat, const templates::chat_input& input,
               const templates::template_abilities& abilities) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < renders; ++i) {
    if (!templates::render_chat(chat, input, abilities)) return 0;
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / renders;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: render FOLDER [CSV]\n");
    return 2;
  }
  csv_file csv(argc > 2 ? argv[2] : "", command_of(argc, argv));
  const auto input = long_talk();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<double> medians;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const auto chat = templates::chat_template::compile(text.str());
    if (!chat) continue;
    const auto abilities = templates::probe(chat.value());
    std::vector<double> values;
    for (std::uint32_t repeat = 0; repeat < runs; ++repeat) {
      values.push_back(measure(chat.value(), input, abilities));
      csv.add("render", "template=" + file.stem().string(), repeat, values.back(), "ms");
    }
    medians.push_back(median(values));
    std::printf("%8.3f ms  %s\n", medians.back(), file.stem().c_str());
  }
  if (medians.empty()) return 1;
  std::printf("%d messages: median %.3f ms, slowest %.3f ms of %zu templates\n", messages, median(medians),
              *std::max_element(medians.begin(), medians.end()), medians.size());
  return 0;
}

}  // namespace
}  // namespace infer::bench

int main(int argc, char** argv) {
  return infer::bench::run(argc, argv);
}
