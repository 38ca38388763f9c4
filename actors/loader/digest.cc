// Checksums with OpenSSL.
#include "actors/loader/digest.h"

#include <openssl/evp.h>

#include <array>

namespace infer::hub {

struct running_digest::impl {
  std::string wanted;
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

running_digest::running_digest(const checksum& wanted, std::uint64_t file_bytes) {
  if (!wanted.known()) return;
  impl_ = std::make_unique<impl>();
  const bool sha256 = !wanted.sha256.empty();
  impl_->wanted = sha256 ? wanted.sha256 : wanted.git_blob;
  EVP_DigestInit_ex(impl_->context.get(), sha256 ? EVP_sha256() : EVP_sha1(), nullptr);
  if (sha256) return;
  const std::string head = "blob " + std::to_string(file_bytes);
  EVP_DigestUpdate(impl_->context.get(), head.c_str(), head.size() + 1);
}

running_digest::running_digest(running_digest&&) noexcept = default;
running_digest& running_digest::operator=(running_digest&&) noexcept = default;
running_digest::~running_digest() = default;

void running_digest::update(byte_view bytes) {
  if (impl_) EVP_DigestUpdate(impl_->context.get(), bytes.data(), bytes.size());
}

bool running_digest::matches() {
  if (!impl_) return true;
  std::array<unsigned char, EVP_MAX_MD_SIZE> value{};
  unsigned length = 0;
  if (EVP_DigestFinal_ex(impl_->context.get(), value.data(), &length) != 1) return false;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < length; ++i) {
    hex += digits[value[i] >> 4];
    hex += digits[value[i] & 15];
  }
  return hex == impl_->wanted;
}

}  // namespace infer::hub
