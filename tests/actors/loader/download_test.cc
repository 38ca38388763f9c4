// Fetching from a server whose every answer is written here; tests/apps/pull_test.py does so with whole processes.
// Mirrors: web_client.cc, hub_repository.cc, download.cc, pull.cc
#include "actors/loader/download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "actors/loader/part_file.h"
#include "actors/loader/pull.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace infer::hub {
namespace {

using std::chrono::milliseconds;
using test_support::scripted_server;
using testing::HasSubstr;
using testing::Not;

const checksum abc{"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""};

struct Download : testing::Test {
  /// Fetches "abc" from a server that gives these answers in turn, the last for ever.
  result<void> fetch(std::vector<std::string> answers, checksum sum = abc, std::uint64_t bytes = 3) {
    std::size_t next = 0;
    const scripted_server server([&](const std::string&) { return answers[std::min(next++, answers.size() - 1)]; });
    web_client web(5);
    const download_settings settings{3, [this](milliseconds time) { waits_.push_back(time.count()); }, {}};
    auto done = download(web, {server.url(), ""}, server.url() + "/file", {"file", bytes, sum}, target_, settings);
    heads_ = server.heads();
    return done;
  }
  std::string content() const { return read_small(target_); }

  test_support::temporary_folder folder_;
  std::filesystem::path target_ = folder_ / "file";
  std::vector<std::int64_t> waits_;
  std::vector<std::string> heads_;
};

const std::string etag = "ETag: \"e\"\r\n";

std::string broken(const std::string& head, const std::string& body) {
  return "HTTP/1.1 " + head + "\r\n" + etag + "Content-Length: 3\r\n\r\n" + body;
}

TEST_F(Download, Whole) {
  ASSERT_TRUE(fetch({scripted_server::text("200 OK", "abc")}));
  EXPECT_EQ(content(), "abc");
  EXPECT_TRUE(waits_.empty());
  ASSERT_TRUE(fetch({""})) << "what is there is not asked for";
  EXPECT_TRUE(heads_.empty());
}

TEST_F(Download, GoesOnWithARangeOfTheSameFile) {
  ASSERT_TRUE(fetch({broken("200 OK", "a"), broken("206 Partial Content\r\nContent-Range: bytes 1-2/3", "b"),
                     scripted_server::text("206 Partial Content", "c", etag + "Content-Range: bytes 2-2/3\r\n")}));
  EXPECT_EQ(content(), "abc");
  ASSERT_EQ(heads_.size(), 3u);
  EXPECT_THAT(heads_[0], Not(HasSubstr("Range")));
  EXPECT_THAT(heads_[1], HasSubstr("Range: bytes=1-\r\n"));
  EXPECT_THAT(heads_[1], HasSubstr("If-Range: \"e\"\r\n"));
  EXPECT_THAT(heads_[2], HasSubstr("Range: bytes=2-\r\n"));
  EXPECT_EQ(waits_, (std::vector<std::int64_t>{500, 500})) << "progress keeps the pauses short";
}

TEST_F(Download, PausesGrowAndTriesEnd) {
  const auto done = fetch({broken("200 OK", "a"), scripted_server::text("503 Busy", ""),
                           scripted_server::text("429 Slow", "", "Retry-After: 7\r\n")});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, fault::unreachable);
  EXPECT_THAT(done.error().message(),
              HasSubstr("3 tries in a row brought nothing, at byte 1 of 3: the server answered 429"));
  EXPECT_EQ(waits_, (std::vector<std::int64_t>{500, 1000, 7000}));
  EXPECT_EQ(read_small(target_.string() + ".part"), "a") << "it is kept";
}

TEST_F(Download, WithoutChecksumAndETagAPartIsWorthNothing) {
  ASSERT_TRUE(fetch({"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", scripted_server::text("200 OK", "xyz")}, {}));
  EXPECT_EQ(content(), "xyz");
  EXPECT_THAT(heads_[1], Not(HasSubstr("Range")));
}

TEST_F(Download, WithoutChecksumMoreBytesAreRefused) {
  const auto done = fetch({scripted_server::text("200 OK", "abcd")}, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, fault::misbehaves);
}

TEST_F(Download, WithAChecksumMoreBytesAreLeft) {
  ASSERT_TRUE(fetch({scripted_server::text("200 OK", "abcd")}));
  EXPECT_EQ(content(), "abc");
}

TEST_F(Download, AnotherETagBeginsAgain) {
  ASSERT_TRUE(
      fetch({broken("200 OK", "x"),
             scripted_server::text("206 Partial Content", "yz", "ETag: \"f\"\r\nContent-Range: bytes 1-2/3\r\n"),
             scripted_server::text("200 OK", "abc", "ETag: \"f\"\r\n")}));
  EXPECT_EQ(content(), "abc");
}

TEST_F(Download, ARefusedRangeSaysHowLongTheFileIs) {
  const auto done =
      fetch({broken("200 OK", "ab"), scripted_server::text("416 Range", "", "Content-Range: bytes */2\r\n")});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "file: the server's file has 2 bytes, its listing says 3");
}

TEST_F(Download, WrongBytesTwiceAreRefused) {
  const auto done = fetch({scripted_server::text("200 OK", "abd")});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, fault::wrong_content);
  EXPECT_EQ(heads_.size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(Download, RefusalsSayWhatToDo) {
  const auto gated = fetch({scripted_server::text("403 Forbidden", "")});
  ASSERT_FALSE(gated);
  EXPECT_EQ(gated.error().code, fault::refused);
  EXPECT_THAT(gated.error().message(), HasSubstr("HF_TOKEN"));
  const auto missing = fetch({scripted_server::text("404 Not Found", "")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, fault::not_found);
  EXPECT_EQ(heads_.size(), 1u) << "asked once";
}

TEST(WebClient, ATokenStaysWithItsServer) {
  const scripted_server other([](const std::string&) { return scripted_server::text("200 OK", "there"); });
  const scripted_server first([&](const std::string& head) {
    const bool at_home = head.starts_with("GET /start");
    return scripted_server::text("302 Found", "", "Location: " + (at_home ? "/next" : other.url() + "/x") + "\r\n");
  });
  web_client web(5);
  std::string text;
  const web_answer answer = web.get_text({first.url() + "/start", "secret"}, text, 100);
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(text, "there");
  ASSERT_EQ(first.heads().size(), 2u);
  for (const auto& head : first.heads()) EXPECT_THAT(head, HasSubstr("Authorization: Bearer secret"));
  ASSERT_EQ(other.heads().size(), 1u);
  EXPECT_THAT(other.heads()[0], Not(HasSubstr("secret")));
}

TEST(WebClient, RedirectsAndLongTextsEnd) {
  const scripted_server server([](const std::string& head) {
    return head.starts_with("GET /long") ? scripted_server::text("200 OK", std::string(101, 'x'))
                                         : scripted_server::text("302 Found", "", "Location: /again\r\n");
  });
  web_client web(5);
  std::string text;
  EXPECT_EQ(web.get_text({server.url() + "/around"}, text, 100).trouble, "the server redirects again and again");
  const web_answer answer = web.get_text({server.url() + "/long"}, text, 100);
  EXPECT_TRUE(answer.stopped);
  EXPECT_FALSE(answer.whole);
}

struct listing_case {
  const char* body;
  const char* sentence;
};

TEST(HubRepository, ListingsThatContradictThemselvesAreRefused) {
  for (const auto& [body, sentence] : {listing_case{"{}", "not a JSON array"},
                                       {"[1]", "an entry that is no object"},
                                       {"[{\"path\":\"a\"}]", "without a size"},
                                       {"[{\"path\":\"../a\",\"size\":1}]", "leads out"},
                                       {"[{\"path\":\"a\",\"size\":-1}]", "without a size"}}) {
    const scripted_server server([body = body](const std::string&) { return scripted_server::text("200 OK", body); });
    web_client web(5);
    const auto files = list_files(web, {server.url(), ""}, parse_reference("a/b").value());
    ASSERT_FALSE(files) << body;
    EXPECT_EQ(files.error().code, fault::misbehaves);
    EXPECT_THAT(files.error().message(), HasSubstr(sentence));
  }
}

TEST(HubRepository, PagesAreFollowedOnTheSameServerOnly) {
  std::string next;
  const scripted_server server([&](const std::string& head) {
    if (head.starts_with("GET /page2")) return scripted_server::text("200 OK", R"([{"path":"b","size":2}])");
    return scripted_server::text(
        "200 OK",
        R"([{"path":"a","size":9,"oid":"0","lfs":{"oid":"sha256:5","size":1}},{"type":"directory","path":"d"}])",
        "Link: <" + next + ">; rel=\"next\"\r\n");
  });
  web_client web(5);
  next = server.url() + "/page2";
  const auto files = list_files(web, {server.url(), ""}, parse_reference("a/b@x/y").value());
  ASSERT_TRUE(files);
  ASSERT_EQ(files.value().size(), 2u);
  EXPECT_EQ(files.value()[0].sum, (checksum{"5", ""}));
  EXPECT_EQ(files.value()[0].bytes, 1u);
  EXPECT_THAT(server.heads()[0], HasSubstr("GET /api/models/a/b/tree/x%2Fy?recursive=true "));
  next = "http://127.0.0.2/page2";
  EXPECT_FALSE(list_files(web, {server.url(), ""}, parse_reference("a/b").value()));
}

TEST(HubRepository, PathsAreEscaped) {
  EXPECT_EQ(file_url({"http://h", ""}, parse_reference("a/b@r").value(), "x y/%.gguf"),
            "http://h/a/b/resolve/r/x%20y/%25.gguf");
  EXPECT_EQ(file_url({"http://h", ""}, parse_reference("a/b@refs/pr/1").value(), "c/d.gguf"),
            "http://h/a/b/resolve/refs%2Fpr%2F1/c/d.gguf");
}

TEST(Pull, WhereFoldersCannotBeExchangedTheOldOneGoesFirst) {
  const test_support::temporary_folder folder;
  std::string body = "1";
  const scripted_server server([&](const std::string& head) {
    const std::string listing = R"([{"path":"m-Q4_0.gguf","size":)" + std::to_string(body.size()) + "}]";
    return scripted_server::text("200 OK", head.starts_with("GET /api/") ? listing : body);
  });
  const auto fetched = [&](int code) {
    pull_options options{.hub = {server.url(), ""}, .models = folder.path()};
    options.exchange = [code](const char*, const char*) {
      errno = code;
      return -1;
    };
    const auto done = pull(parse_reference("a/b").value(), options);
    return done ? read_small(done.value().path) : done.error().message();
  };
  const std::filesystem::path file = folder / "a/b/Q4_0/m-Q4_0.gguf";
  EXPECT_EQ(fetched(EINVAL), "1");
  for (const int code : {EINVAL, ENOSYS, EOPNOTSUPP}) {
    body += "2";
    EXPECT_EQ(fetched(code), body);
    EXPECT_EQ(std::filesystem::is_empty(folder / ".pulling"), false) << "the lock stays";
    EXPECT_FALSE(std::filesystem::exists(folder / ".pulling/a--b--Q4_0.old"));
    EXPECT_FALSE(std::filesystem::exists(folder / ".pulling/a--b--Q4_0"));
  }
  const std::string before = body;
  body = "other";
  EXPECT_THAT(fetched(EACCES), HasSubstr("Permission denied"));
  EXPECT_EQ(read_small(file), before);
}

TEST(Pull, ADiskWithoutRoomIsSaidBeforeAByteIsFetched) {
  const test_support::temporary_folder folder;
  const scripted_server server(
      [](const std::string&) { return scripted_server::text("200 OK", R"([{"path":"m-Q4_0.gguf","size":1048576}])"); });
  pull_options options{.hub = {server.url(), ""}, .models = folder.path()};
  options.free_bytes = [](const std::filesystem::path&) { return std::uint64_t{64} << 20; };
  const auto done = pull(parse_reference("a/b").value(), options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, fault::no_space);
  EXPECT_THAT(done.error().message(), HasSubstr("a/b:Q4_0 needs 1.00 MiB more"));
  EXPECT_EQ(server.heads().size(), 1u);
}

}  // namespace
}  // namespace infer::hub
