// Names of models on a hub.
// Mirrors: hub_reference.cc, hub_fault.cc
#include "actors/loader/hub_reference.h"

#include <gtest/gtest.h>

namespace infer::hub {
namespace {

std::string taken_apart(const char* text) {
  const auto of = parse_reference(text);
  if (!of) return "refused";
  const reference& r = of.value();
  return r.owner + "|" + r.name + "|" + r.quant + "|" + r.file + "|" + r.revision;
}

TEST(HubReference, FormsAreTakenApart) {
  EXPECT_EQ(taken_apart("a/b"), "a|b|||main");
  EXPECT_EQ(taken_apart("hf:a/b-1.5_x:Q4_K_M"), "a|b-1.5_x|Q4_K_M||main");
  EXPECT_EQ(taken_apart("a/b@v1.0"), "a|b|||v1.0");
  EXPECT_EQ(taken_apart("a/b:Q8_0@refs/pr/1"), "a|b|Q8_0||refs/pr/1");
  EXPECT_EQ(taken_apart("a/b/c/d.gguf"), "a|b||c/d.gguf|main");
}

TEST(HubReference, FilesMayHaveAnAtInTheirNames) {
  EXPECT_EQ(taken_apart("o/n/m@4bit.gguf"), "o|n||m@4bit.gguf|main");
  EXPECT_EQ(taken_apart("o/n/m@4bit.gguf@v1"), "o|n||m@4bit.gguf|v1");
  EXPECT_EQ(taken_apart("o/n/m.gguf@refs/pr/1"), "o|n||m.gguf|refs/pr/1");
  EXPECT_EQ(taken_apart("o/n/a@b/m.gguf"), "o|n||a@b/m.gguf|main");
  EXPECT_EQ(taken_apart("my.owner/n/m@4bit.gguf"), "my.owner|n||m@4bit.gguf|main");
  EXPECT_EQ(taken_apart("https://hub.example/o/n/blob/main/m@4bit.gguf"), "o|n||m@4bit.gguf|main");
  EXPECT_EQ(taken_apart("hub.example/o/n/resolve/v1/m@4bit.gguf?download=true"), "o|n||m@4bit.gguf|v1");
  EXPECT_EQ(taken_apart("https://hub.example/o/n/blob/main/m%404bit.gguf"), "o|n||m@4bit.gguf|main");
  EXPECT_EQ(taken_apart("https://hub.example/o/n/tree/v1@v2"), "o|n|||v1@v2");
}

TEST(HubReference, AddressesAreTakenApart) {
  EXPECT_EQ(taken_apart("https://hub.example/a/b"), "a|b|||main");
  EXPECT_EQ(taken_apart("http://localhost:81/a/b/"), "a|b|||main");
  EXPECT_EQ(taken_apart("hub.example/a/b"), "a|b|||main");
  EXPECT_EQ(taken_apart("hub.example/a/b/?x=c/d"), "a|b|||main");
  EXPECT_EQ(taken_apart("hub.example/a/b@refs/pr/1"), "a|b|||refs/pr/1");
  EXPECT_EQ(taken_apart("hub.example/a/b:Q4_K_M@v1"), "a|b|Q4_K_M||v1");
  EXPECT_EQ(taken_apart("hf:hub.example/a/b.c"), "a|b.c|||main");
  EXPECT_EQ(taken_apart("https://hub.example/a/b/tree/v1.0"), "a|b|||v1.0");
  EXPECT_EQ(taken_apart("https://hub.example/a/b/tree/refs%2Fpr%2F1"), "a|b|||refs/pr/1");
  EXPECT_EQ(taken_apart("https://hub.example/a/b/blob/main/c/d%20e.gguf"), "a|b||c/d e.gguf|main");
  EXPECT_EQ(taken_apart("hub.example/a/b/resolve/v1/d.gguf?download=true"), "a|b||d.gguf|v1");
  EXPECT_EQ(taken_apart("hub.example/a/b/blob/main/c/d.gguf"), "a|b||c/d.gguf|main");
  EXPECT_EQ(taken_apart("my.owner/b/c/d.gguf"), "my.owner|b||c/d.gguf|main")
      << "not an address, but a file in a folder";
  EXPECT_EQ(taken_apart("a.b/c/d.gguf"), "a.b|c||d.gguf|main") << "an owner's name may have a dot";
  EXPECT_EQ(taken_apart("a/b/resolve/v1/d.gguf"), "a|b||resolve/v1/d.gguf|main") << "a folder of that name";
  for (const char* text :
       {"https://", "https://hub.example", "https://hub.example/a", "https://hub.example/a/b/tree",
        "https://hub.example/a/b/tree/main/c", "https://hub.example/a/b/blob/main/c.bin",
        "https://hub.example/a/b/blob/main", "https://hub.example/a/b/blob/main/%2e%2e/c.gguf",
        "https://hub.example/a/b/tree/..", "https://hub.example/a/b/tree/%", "https://hub.example/a/b/tree/%zz",
        "https://hub.example/a/b/discussions", ".x/a/b", "ftp://hub.example/a/b"})
    EXPECT_EQ(taken_apart(text), "refused") << text;
}

TEST(HubReference, OthersAreRefused) {
  for (const char* text : {"", "a", "/b", "a/", "a/b:", "a/b@", "a/b@../x", "../b", "a/..", "a b/c", "a/b/c.txt",
                           "a/b/../c.gguf", "a/b//c.gguf", "a/b:Q4/x.gguf", "./x.gguf"})
    EXPECT_EQ(taken_apart(text), "refused") << text;
  const error e = parse_reference("nobody").error();
  EXPECT_EQ(e.code, fault::bad_reference);
  EXPECT_EQ(e.message(), std::string("\"nobody\": ") + fault_sentence(fault::bad_reference));
}

TEST(HubReference, PathsMayNotLeaveTheirFolder) {
  for (const char* path : {"a", "a/b.gguf", "a b/c", "..a"}) EXPECT_TRUE(is_safe_path(path)) << path;
  for (const char* path : {"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\\b", "a\nb"})
    EXPECT_FALSE(is_safe_path(path)) << path;
}

TEST(HubFault, EachHasItsSentence) {
  for (int value = static_cast<int>(fault::bad_reference); value <= static_cast<int>(fault::file_system); ++value)
    EXPECT_NE(make_error_code(static_cast<fault>(value)).message(), fault_sentence(static_cast<fault>(99)));
}

}  // namespace
}  // namespace infer::hub
