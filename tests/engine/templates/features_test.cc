// Every snippet of features.jsonl against what jinja2 makes of it.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "tests/engine/templates/rendering.h"

namespace infer::templates {
namespace {

fault expected_fault(std::string_view name) {
  if (name == "syntax") return fault::syntax;
  return name == "raised" ? fault::raised : fault::evaluation;
}

TEST(template_features, every_snippet_renders_or_fails_as_the_reference) {
  std::ifstream lines("tests/golden/templates/features.jsonl");
  std::vector<boost::json::object> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(boost::json::parse(line).as_object());
  ASSERT_GT(rows.size(), 150u);
  const boost::json::object variables = rows.back().at("variables").as_object();
  rows.pop_back();
  for (const auto& row : rows) {
    const std::string source(row.at("source").as_string());
    const auto made = rendered(source, variables);
    if (row.contains("output")) {
      EXPECT_TRUE(made) << source << "\n" << made.error().message();
      if (!made) continue;
      EXPECT_EQ(made.value(), row.at("output").as_string()) << source;
    } else if (made) {
      ADD_FAILURE() << source << "\nmade " << made.value() << "\nexpected " << row.at("message");
    } else {
      // The sandbox's bound on ranges counts as a limit here.
      const bool limit =
          made.error().code == fault::limit && row.at("message").as_string().starts_with("Range too big");
      EXPECT_TRUE(limit || made.error().code == expected_fault(row.at("fails").as_string())) << source << "\n"
                                                                                             << made.error().message();
    }
  }
}

}  // namespace
}  // namespace infer::templates
