// Strict and exact number reading: ordinary decimals such as 3, -0.5 or 1.2e-3, as in formats/numbers.py.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "bytes.hpp"
#include "outcome.hpp"
#include "tokens.hpp"

namespace assay {

// Powers of ten that a double holds exactly.
inline constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline constexpr uint64_t kWholePowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// Appends digits to a mantissa and returns where they end. More than 19 digits overflow it: callers must count them.
inline const char* read_digits(const char* p, const char* end, uint64_t& mantissa) {
  while (p < end) {
    const auto digit = static_cast<uint64_t>(static_cast<unsigned char>(*p)) - '0';
    if (digit > 9) break;
    mantissa = mantissa * 10 + digit;
    p++;
  }
  return p;
}

// Any ordinary decimal, correctly rounded, by the standard library.
ASSAY_RARE inline double read_any_number(const char* p, const char* end, bool negative) {
  for (const char* q = p; q < end; q++) {
    const char c = *q;
    const bool ordinary = (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
    if (!ordinary) throw NotPlain();  // also nan, infinity and hexadecimals, which the library accepts
  }
  if (p == end || *p == '+' || *p == '-') throw NotPlain();
  double value = 0;
#if defined(__cpp_lib_to_chars)
  const auto [stop, error] = std::from_chars(p, end, value);
  if (error != std::errc() || stop != end) throw NotPlain();
#else
  const std::string text(p, end);  // in another locale strtod stops at the point, which is refused below
  char* stop = nullptr;
  value = std::strtod(text.c_str(), &stop);
  if (stop != text.c_str() + text.size()) throw NotPlain();
#endif
  if (!std::isfinite(value)) throw NotPlain();
  return negative ? -value : value;
}

// The value of a token. A whole mantissa up to 2^53 divided by a power of ten up to 10^22 is correctly rounded, because
// both are exact as doubles.
inline double read_decimal(Bytes token) {
  const char *p = token.data, *end = token.end();
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  const char* first = p;
  uint64_t mantissa = 0;
  p = read_digits(p, end, mantissa);
  size_t digits = static_cast<size_t>(p - first), decimals = 0;
  if (p < end && *p == '.') {
    const char* point = p++;
    p = read_digits(p, end, mantissa);
    decimals = static_cast<size_t>(p - point) - 1;
    digits += decimals;
  }
  const bool exact = p == end && digits > 0 && digits <= 18 && mantissa <= uint64_t{1} << 53;
  if (!exact) return read_any_number(first, end, negative);
  const double value = static_cast<double>(mantissa) / kPowers[decimals];
  return negative ? -value : value;
}

// The value of eight digits, the first in the lowest byte. `digits` holds their values, not their characters.
inline uint64_t eight_digits(uint64_t digits) {
  digits = digits * 10 + (digits >> 8);  // pairs, in every other byte
  const uint64_t even = (digits & 0x000000ff000000ff) * 0x000f424000000064;
  const uint64_t odd = ((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001;
  return (even + odd) >> 32;
}

// Most scores have up to seven digits, a point and up to eight digits. They are read without a loop: the digits before
// the point and those after it are each shifted to the end of eight bytes, with zeros in front.
//
// Reads up to eight bytes before and after the token, which the text buffer allows.
ASSAY_INLINE double read_number(Bytes token) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const bool negative = token.size && *token.data == '-';
  const char* first = token.data + negative;
  const uint64_t start = load8(first);
  const uint64_t other = start ^ ('.' * kEach);  // has a zero byte where the point is
  const uint64_t point = (other - kEach) & ~other & (0x80 * kEach);
  const uint32_t whole = point ? lowest_bit(point) / 8 : 8;
  const int64_t decimals = token.end() - first - whole - 1;
  if (whole > 0 && whole < 8 && decimals > 0 && decimals <= 8) {
    const uint32_t before = 8 * (8 - whole), behind = static_cast<uint32_t>(8 * (8 - decimals));
    const uint64_t high = (start << before) - (('0' * kEach) << before);
    const uint64_t low = (load8(token.end() - 8) >> behind << behind) - (('0' * kEach) >> behind << behind);
    const uint64_t wrong = (high | (high + 0x76 * kEach) | low | (low + 0x76 * kEach)) & (0x80 * kEach);
    if (!wrong) {
      const uint64_t mantissa = eight_digits(high) * kWholePowers[decimals] + eight_digits(low);
      const double value = static_cast<double>(static_cast<int64_t>(mantissa)) / kPowers[decimals];
      return negative ? -value : value;
    }
  }
#endif
  return read_decimal(token);
}

// A grade as trec_eval's atol reads it, truncated toward zero. An exponent is refused.
inline double read_whole_grade(Bytes token) {
  if (std::memchr(token.data, 'e', token.size) || std::memchr(token.data, 'E', token.size)) throw NotPlain();
  return std::trunc(read_number(token)) + 0.0;  // no negative zero
}

constexpr int64_t kExact = int64_t{1} << 53;  // doubles hold all whole numbers up to here

// A rank: digits and nothing else.
inline int64_t read_rank(Bytes token) {
  uint64_t value = 0;
  const char* stop = read_digits(token.data, token.end(), value);
  if (stop != token.end() || token.size == 0 || token.size > 18) throw NotPlain();
  return static_cast<int64_t>(value);
}

}  // namespace assay
