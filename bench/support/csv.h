// Results as lines of one CSV file: name, parameters, run, value, unit, machine, date, command.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace infer::bench {

/// Writes nothing where `path` is empty.
class csv_file {
 public:
  csv_file(const std::string& path, std::string command);

  /// `parameters` as "threads=2 type=Q4_0".
  void add(std::string_view name, std::string_view parameters, std::uint32_t run, double value, std::string_view unit);

 private:
  std::ofstream out_;
  std::string tail_;  // machine, date, command
};

/// The command line as it was given.
std::string command_of(int argc, char** argv);

}  // namespace infer::bench
