// Choices change no bit, are kept, and survive a damaged file.
#include "engine/kernels/tuning.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace infer::kernels {
namespace {

struct restore {
  tuning before = current_tuning;
  ~restore() { current_tuning = before; }
};

TEST(tuning, is_measured_once_and_then_read) {
  const restore after;
  const test_support::temporary_folder folder;
  const auto file = folder / "cache" / "kernels.tsv";
  tune(best_ops(), file);
  const tuning measured = current_tuning;
  ASSERT_TRUE(std::filesystem::exists(file));
  const auto size = std::filesystem::file_size(file);
  current_tuning = {0, measured.panels == 1 ? 2u : 1u};
  tune(best_ops(), file);
  EXPECT_EQ(current_tuning, measured);
  EXPECT_EQ(std::filesystem::file_size(file), size) << "read, not measured again";
}

TEST(tuning, of_another_table_or_of_damaged_lines_is_not_taken) {
  const restore after;
  const test_support::temporary_folder folder;
  const auto file = folder / "kernels.tsv";
  tune(best_ops(), file);
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  const std::string key = line.substr(0, line.rfind('\t', line.rfind('\t') - 1));
  std::ofstream(file) << key << "\t99999999\t2\n" << key << "\n" << key << "\tnothing\n";
  tune(best_ops(), file);
  EXPECT_LE(current_tuning.prefetch_bytes, 65536u);
  EXPECT_GE(current_tuning.panels, 1u);
  EXPECT_LE(current_tuning.panels, 2u);
}

TEST(tuning, a_place_that_cannot_be_written_is_no_error) {
  const restore after;
  current_tuning = {77, 2};
  tune(best_ops(), "/proc/no/such/folder/kernels.tsv");
  EXPECT_NE(current_tuning.prefetch_bytes, 77u) << "measured although it cannot be kept";
}

}  // namespace
}  // namespace infer::kernels
