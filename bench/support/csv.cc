// CSV with every text quoted.
#include "bench/support/csv.h"

#include <filesystem>

#include "bench/support/machine.h"

namespace infer::bench {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

csv_file::csv_file(const std::string& path, std::string command) {
  if (path.empty()) return;
  tail_ = in_quotes(machine_name()) + "," + today() + "," + in_quotes(command);
  out_.open(path);
  out_ << "name,parameters,run,value,unit,machine,date,command\n";
}

void csv_file::add(std::string_view name, std::string_view parameters, std::uint32_t run, double value,
                   std::string_view unit) {
  if (!out_.is_open()) return;
  out_ << in_quotes(name) << "," << in_quotes(parameters) << "," << run << "," << value << "," << unit << "," << tail_
       << std::endl;
}

std::string command_of(int argc, char** argv) {
  std::string out;
  // Folders differ between machines; names do not.
  for (int i = 0; i < argc; ++i) out += (i > 0 ? " " : "") + std::filesystem::path(argv[i]).filename().string();
  return out;
}

}  // namespace infer::bench
