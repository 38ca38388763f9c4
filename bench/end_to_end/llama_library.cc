// The few calls of the C interface that a comparison needs.
#include "bench/end_to_end/llama_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace infer::bench {
namespace {

/// Parameters by value: larger than the real ones, whose defaults the library fills in itself.
struct opaque {
  std::int32_t words[256];
};

/// llama_batch.
struct token_batch {
  std::int32_t n_tokens;
  std::int32_t* token;
  float* embd;
  std::int32_t* pos;
  std::int32_t* n_seq_id;
  std::int32_t** seq_id;
  std::int8_t* logits;
};

constexpr std::size_t batch_tokens = 512;

std::filesystem::path find_library(const std::filesystem::path& folder, std::string_view prefix) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.ends_with(".so")) return entry.path();
  }
  throw std::runtime_error("no library " + std::string(prefix) + "*.so in " + folder.string());
}

void* open_library(const std::filesystem::path& path, int flags = RTLD_NOW | RTLD_GLOBAL) {
  void* library = dlopen(path.c_str(), flags);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return library;
}

template <class Function>
void find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
  if (out == nullptr) throw std::runtime_error(std::string("the library has no function ") + name);
}

void say_nothing(int, const char*, void*) {}

/// The back end that is mapped into this process.
std::string mapped_backend() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (const std::size_t at = line.find("/libggml-cpu-"); at != std::string::npos) return line.substr(line.find('/'));
  }
  return {};
}

}  // namespace

struct llama_library::functions {
  std::string version, backend;
  opaque (*model_defaults)();
  opaque (*context_defaults)();
  void* (*load)(const char*, opaque);
  void* (*make_context)(void*, opaque);
  void (*free_context)(void*);
  void (*free_model)(void*);
  void (*set_threads)(void*, std::int32_t, std::int32_t);
  void (*attach_pool)(void*, void*, void*);
  opaque (*pool_defaults)(int);
  void* (*make_pool)(opaque*);
  void (*free_pool)(void*);
  void (*pause_pool)(void*);
  const void* (*vocab)(const void*);
  std::int32_t (*vocab_size)(const void*);
  std::int32_t (*tokenize)(const void*, const char*, std::int32_t, std::int32_t*, std::int32_t, bool, bool);
  std::int32_t (*piece)(const void*, std::int32_t, char*, std::int32_t, std::int32_t, bool);
  token_batch (*batch_of)(std::int32_t*, std::int32_t);
  std::int32_t (*decode)(void*, token_batch);
  float* (*logits)(void*, std::int32_t);
  void* (*memory)(void*);
  void (*clear)(void*, bool);
};

llama_library::llama_library(const std::filesystem::path& folder, const std::filesystem::path& model,
                             std::uint32_t context, std::uint32_t threads)
    : call_(std::make_unique<functions>()) {
  functions& f = *call_;
  void* base = open_library(folder / "libggml-base.so");
  void* ggml = open_library(find_library(folder, "libggml.v"));
  const std::filesystem::path llama_path = find_library(folder, "libllama.v");
  void* llama = open_library(llama_path);
  const std::string name = llama_path.stem();
  f.version = name.substr(name.find('v'));
  void (*set_log)(void (*)(int, const char*, void*), void*) = nullptr;
  find(llama, "llama_log_set", set_log);
  set_log(say_nothing, nullptr);
  void (*load_backends)(const char*) = nullptr;
  find(ggml, "ggml_backend_load_all_from_path", load_backends);
  load_backends(folder.c_str());
  void (*init)() = nullptr;
  find(llama, "llama_backend_init", init);
  init();
  f.backend = mapped_backend();
  if (f.backend.empty()) throw std::runtime_error("llama.cpp found no back end for this CPU");
  find(llama, "llama_model_default_params", f.model_defaults);
  find(llama, "llama_context_default_params", f.context_defaults);
  find(llama, "llama_model_load_from_file", f.load);
  find(llama, "llama_init_from_model", f.make_context);
  find(llama, "llama_free", f.free_context);
  find(llama, "llama_model_free", f.free_model);
  find(llama, "llama_set_n_threads", f.set_threads);
  find(llama, "llama_attach_threadpool", f.attach_pool);
  find(llama, "llama_model_get_vocab", f.vocab);
  find(llama, "llama_vocab_n_tokens", f.vocab_size);
  find(llama, "llama_tokenize", f.tokenize);
  find(llama, "llama_token_to_piece", f.piece);
  find(llama, "llama_batch_get_one", f.batch_of);
  find(llama, "llama_decode", f.decode);
  find(llama, "llama_get_logits_ith", f.logits);
  find(llama, "llama_get_memory", f.memory);
  find(llama, "llama_memory_clear", f.clear);
  find(base, "ggml_threadpool_params_default", f.pool_defaults);
  void* backend = open_library(f.backend);
  find(backend, "ggml_threadpool_new", f.make_pool);
  find(backend, "ggml_threadpool_free", f.free_pool);
  find(backend, "ggml_threadpool_pause", f.pause_pool);

  model_ = f.load(model.c_str(), f.model_defaults());
  if (model_ == nullptr) throw std::runtime_error("llama.cpp cannot load " + model.string());
  opaque parameters = f.context_defaults();
  parameters.words[0] = static_cast<std::int32_t>(context);  // n_ctx is the first field
  context_ = f.make_context(model_, parameters);
  if (context_ == nullptr) throw std::runtime_error("llama.cpp cannot make a context");
  f.set_threads(context_, static_cast<std::int32_t>(threads), static_cast<std::int32_t>(threads));
  opaque pool = f.pool_defaults(static_cast<int>(threads));
  pool_ = f.make_pool(&pool);
  f.attach_pool(context_, pool_, nullptr);
  vocab_ = f.vocab(model_);
  vocabulary_ = static_cast<std::uint32_t>(f.vocab_size(vocab_));
}

llama_library::~llama_library() {
  if (context_ != nullptr) call_->free_context(context_);
  if (pool_ != nullptr) call_->free_pool(pool_);
  if (model_ != nullptr) call_->free_model(model_);
}

std::string llama_library::description() const {
  return "llama.cpp " + call_->version + " with " + std::filesystem::path(call_->backend).filename().string();
}

std::vector<std::int32_t> llama_library::tokenize(std::string_view text) const {
  std::vector<std::int32_t> ids(text.size() + 8);
  const std::int32_t count = call_->tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), ids.data(),
                                             static_cast<std::int32_t>(ids.size()), true, false);
  if (count < 0) throw std::runtime_error("llama.cpp cannot tokenize");
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

std::string llama_library::piece_of(std::int32_t id) const {
  char text[256];
  const std::int32_t size = call_->piece(vocab_, id, text, sizeof text, 0, true);
  return {text, static_cast<std::size_t>(std::max(size, 0))};
}

void llama_library::clear() {
  call_->clear(call_->memory(context_), true);
}

void llama_library::rest() {
  call_->pause_pool(pool_);
}

void llama_library::feed_blindly(std::span<const std::int32_t> ids) {
  while (!ids.empty()) {
    const std::size_t count = std::min(ids.size(), batch_tokens);
    std::vector<std::int32_t> part(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
    if (call_->decode(context_, call_->batch_of(part.data(), static_cast<std::int32_t>(count))) != 0)
      throw std::runtime_error("llama.cpp cannot decode");
    ids = ids.subspan(count);
  }
  volatile float seen = call_->logits(context_, -1)[0];  // waits for the result
  (void)seen;
}

std::int32_t llama_library::feed(std::span<const std::int32_t> ids) {
  feed_blindly(ids);
  const float* logits = call_->logits(context_, -1);
  return static_cast<std::int32_t>(std::max_element(logits, logits + vocabulary_) - logits);
}

}  // namespace infer::bench
