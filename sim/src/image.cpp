// SPDX-License-Identifier: Apache-2.0
#include "image.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "condition.hpp"

namespace cugraft_sim {
namespace {

constexpr unsigned device_target = 90;  // sm_90, as device.cpp says

// How images begin that are not text.
constexpr std::array<unsigned char, 4> elf_magic{0x7f, 'E', 'L', 'F'};
constexpr std::array<unsigned char, 4> fatbin_magic{0x50, 0xed, 0x55, 0xba};
constexpr std::array<unsigned char, 4> fatbin_wrapper_magic{0xb1, 0x43, 0x62, 0x46};

loaded_image refuse(CUresult result, std::string message) {
  return {result, std::move(message), nullptr};
}

// Stops reading at the first difference, so that a short image is not left.
bool begins_with(const void* image, const std::array<unsigned char, 4>& magic) noexcept {
  const auto* const bytes = static_cast<const unsigned char*>(image);
  return std::equal(magic.begin(), magic.end(), bytes);
}

bool begins_as_text(const char* text) noexcept {
  const std::string_view allowed = "./ \t\r\n";
  return *text != '\0' && allowed.find(*text) != std::string_view::npos;
}

loaded_image load_text(const char* text) {
  try {
    auto module = ptx::ptx_module::load(text, device_functions());
    if (module->target() > device_target)
      return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the image is for sm_" + std::to_string(module->target()) +
                        ", the device is sm_" + std::to_string(device_target));
    return {CUDA_SUCCESS, {}, std::move(module)};
  } catch (const ptx::load_error& error) {
    return refuse(CUDA_ERROR_INVALID_PTX, error.what());
  }
}

}  // namespace

loaded_image load_image(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  if (begins_as_text(text)) return load_text(text);
  if (*text == '\0') return refuse(CUDA_ERROR_INVALID_IMAGE, "the image is empty");
  if (begins_with(image, elf_magic))
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "a binary image cannot be run here, only PTX can");
  if (begins_with(image, fatbin_magic) || begins_with(image, fatbin_wrapper_magic))
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "containers of several images are not read yet, only PTX text is");
  return refuse(CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a known binary form");
}

}  // namespace cugraft_sim
