// render FOLDER [CSV]: how long each chat template of a folder takes for a conversation of 100 messages, in time of its
// core, so that other programs on the machine count little.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
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

double core_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Milliseconds for one rendering, the mean of several; nothing where the template refuses the conversation.
std::optional<double> measure(const templates::chat_template& chat, const templates::chat_input& input,
                              const templates::template_abilities& abilities) {
  const double start = core_milliseconds();
  for (std::uint32_t i = 0; i < renders; ++i) {
    if (!templates::render_chat(chat, input, abilities)) return std::nullopt;
  }
  return (core_milliseconds() - start) / renders;
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
      const auto taken = measure(chat.value(), input, abilities);
      if (!taken) break;
      values.push_back(*taken);
      csv.add("render", "template=" + file.stem().string(), repeat, values.back(), "ms");
    }
    if (values.empty()) {
      std::printf("  refuses     %s\n", file.stem().c_str());
      continue;
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
