// Sums of doubles without rounding.
#pragma once

#include <cstdint>
#include <cstring>

#include "outcome.hpp"

namespace assay {

// The sum of doubles as a whole multiple of the smallest double (2^-1074), in parts of 32 bits. A part has room
// for the carries of kMost additions; the caller adds up the parts.
struct ExactSum {
  static constexpr int kParts = 68;
  static constexpr size_t kMost = size_t{1} << 29;

  int64_t parts[kParts] = {};

  void add(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const auto exponent = static_cast<uint32_t>(bits >> 52) & 0x7ff;
    if (exponent == 0x7ff) throw NotPlain();  // infinite, or not a number
    const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{exponent != 0} << 52);
    const uint32_t shift = exponent ? exponent - 1 : 0;
    int64_t* part = parts + shift / 32;
    const uint64_t low = (mantissa & 0xffffffff) << (shift % 32), high = (mantissa >> 32) << (shift % 32);
    const int64_t sign = bits >> 63 ? -1 : 1;
    part[0] += sign * static_cast<int64_t>(low & 0xffffffff);
    part[1] += sign * static_cast<int64_t>((low >> 32) + (high & 0xffffffff));
    part[2] += sign * static_cast<int64_t>(high >> 32);
  }
};

}  // namespace assay
