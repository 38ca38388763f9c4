// What is said of machines that a test has made up.
// Mirrors: findings_text.cc
#include "apps/infer_node/doctor/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace infer::apps {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// A machine on which all is well.
readings healthy() {
  readings r;
  r.machine.cpu = "A CPU";
  r.machine.features = {{"avx2", true}, {"avx512f", false}};
  r.machine.cores = {8, 8, {}, 8};
  r.machine.memory.total = 32 * gib;
  r.machine.memory.available = 30 * gib;
  r.machine.memory.huge_pages = "madvise";
  r.machine.open_files = 4096;
  r.kernels = {{"reference", false, 100, {}, 0.5}, {"avx2", true, 100, {}, 0.25}};
  r.roofs = {{"read", 1, 10e9, "B"}, {"read", 8, 40e9, "B"}, {"dot8 ymm", 8, 1e12, "OP"}};
  r.budget_bytes = 25 * gib;
  r.models = {"/models", true, true, true, 100 * gib, 2, 3 * gib, "a-hub", false};
  return r;
}

finding find(const readings& r, const std::string& section, const std::string& name) {
  for (const finding& f : findings_of(r)) {
    if (f.section == section && f.name == name) return f;
  }
  ADD_FAILURE() << "nothing is said of " << section << " " << name;
  return {};
}

bool is_said(const readings& r, const std::string& section, const std::string& name) {
  for (const finding& f : findings_of(r)) {
    if (f.section == section && f.name == name) return true;
  }
  return false;
}

TEST(Findings, AHealthyMachineHasNoAdvice) {
  const auto all = findings_of(healthy());
  EXPECT_EQ(worst_of(all), health::ok);
  for (const finding& f : all) {
    EXPECT_EQ(f.state, health::ok) << f.name;
    EXPECT_EQ(f.advice, "") << f.name;
    EXPECT_NE(f.text, "") << f.name;
  }
}

TEST(Findings, WhateverIsNotWellComesWithAdvice) {
  using change = void (*)(readings&);
  struct row {
    const char* section;
    const char* name;
    health state;
    const char* part;  // of text or advice
    change to;
  };
  const std::vector<row> rows{
      {"cpu", "features", health::warn, "AVX2", [](readings& r) { r.machine.features[0].present = false; }},
      {"cpu", "cores", health::warn, "-t 2", [](readings& r) { r.machine.cores.quota = 2.5; }},
      {"kernels", "avx2", health::fail, "linear Q4_K",
       [](readings& r) { r.kernels[1].failures = {"linear Q4_K, wrong", "more"}; }},
      {"memory", "budget", health::fail, "too little", [](readings& r) { r.budget_bytes = 100 << 20; }},
      {"memory", "budget", health::warn, "--memory 20480", [](readings& r) { r.machine.memory.available = 20 * gib; }},
      {"memory", "budget", health::warn, "--memory 1024",
       [](readings& r) {
         r.machine.memory.group_limit = 31 * gib;
         r.machine.memory.group_used = 30 * gib;
       }},
      {"memory", "overcommit", health::warn, "vm.overcommit_memory",
       [](readings& r) { r.machine.memory.overcommit = 2; }},
      {"memory", "huge pages", health::warn, "madvise", [](readings& r) { r.machine.memory.huge_pages = "never"; }},
      {"limits", "address space", health::warn, "ulimit -v", [](readings& r) { r.machine.memory.address_limit = gib; }},
      {"limits", "open files", health::warn, "ulimit -n", [](readings& r) { r.machine.open_files = 256; }},
      {"models", "folder", health::fail, "is no folder", [](readings& r) { r.models.is_folder = false; }},
      {"models", "folder", health::fail, "cannot be written", [](readings& r) { r.models.writable = false; }},
      {"models", "folder", health::fail, "cannot be made",
       [](readings& r) { r.models.exists = r.models.is_folder = r.models.writable = false; }},
      {"models", "disk", health::warn, "INFER_MODELS", [](readings& r) { r.models.free_bytes = gib; }},
  };
  for (const row& one : rows) {
    readings r = healthy();
    one.to(r);
    const finding f = find(r, one.section, one.name);
    EXPECT_EQ(f.state, one.state) << one.name << ": " << f.text;
    EXPECT_NE(f.advice, "") << one.name;
    EXPECT_THAT(f.text + f.advice, HasSubstr(one.part));
    EXPECT_EQ(worst_of(findings_of(r)), one.state) << "and nothing else is worse";
  }
}

TEST(Findings, SayWhatIsThere) {
  readings r = healthy();
  r.machine.cores = {64, 16, 4.0, 4};
  EXPECT_EQ(find(r, "cpu", "cores").text, "4 threads of 64 online, 16 by affinity, 4 by the control group");
  EXPECT_EQ(find(r, "cpu", "cores").state, health::ok);
  EXPECT_EQ(find(r, "cpu", "features").text, "avx2; not: avx512f");
  EXPECT_THAT(find(r, "kernels", "avx2").text, HasSubstr("this table is used"));
  EXPECT_THAT(find(r, "kernels", "reference").text, testing::Not(HasSubstr("used")));
  EXPECT_EQ(find(r, "roofs", "read").text, "10.0 GB/s with 1 thread");
  EXPECT_EQ(find(r, "roofs", "decoding").text, "at most 40.0 tokens/s for each GB of weights that a token reads");
  EXPECT_EQ(find(r, "gpu", "gpu").text, "none (this build has CPU kernels only)");
  EXPECT_EQ(find(r, "models", "folder").text, "/models, 2 models of 3.00 GiB");
  EXPECT_EQ(find(r, "models", "hub").text, "a-hub, without a token (HF_TOKEN)");
  r.models.token = true;
  EXPECT_EQ(find(r, "models", "hub").text, "a-hub, with a token");
  r.models.exists = r.models.is_folder = false;
  EXPECT_EQ(find(r, "models", "folder").text, "/models, made by the first pull");
  r.roofs.clear();
  EXPECT_FALSE(is_said(r, "roofs", "decoding"));
}

TEST(FindingsText, HasASectionALineAndTheAdvice) {
  const std::vector<finding> all{{"cpu", "cores", health::ok, "2 threads", ""},
                                 {"memory", "ram", health::warn, "little", "buy more"},
                                 {"memory", "budget", health::fail, "none", "much more"}};
  EXPECT_EQ(findings_text(all, false),
            "cpu\n  ok    cores                2 threads\n\nmemory\n  warn  ram                  little\n"
            "                             → buy more\n  fail  budget               none\n"
            "                             → much more\n");
  EXPECT_THAT(findings_text(all, true), HasSubstr("\x1b[31mfail \x1b[0m budget"));
}

TEST(FindingsJson, HoldsTheFindingsAndTheNumbers) {
  readings r = healthy();
  r.kernels[1].failures = {"wrong"};
  r.machine.memory.group_limit = 5;
  const auto all = findings_of(r);
  const boost::json::object out = findings_json(r, all);
  EXPECT_EQ(out.at("status"), "fail");
  EXPECT_EQ(out.at("findings").as_array().size(), all.size());
  EXPECT_EQ(boost::json::serialize(out.at("kernels").at(1)),
            R"({"table":"avx2","used":true,"checks":100,"failures":["wrong"],"seconds":2.5E-1})");
  EXPECT_EQ(out.at("machine").at("memory").at("group_limit"), 5);
  EXPECT_TRUE(out.at("machine").at("memory").at("address_limit").is_null());
  EXPECT_EQ(boost::json::serialize(out.at("machine").at("features")), R"(["avx2"])");
  EXPECT_EQ(out.at("roofs").at(1).at("per_second"), 40e9);
  EXPECT_EQ(out.at("models").at("hub"), "a-hub");
}

}  // namespace
}  // namespace infer::apps
