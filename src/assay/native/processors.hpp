// How each kind of processor finds blanks: which of 64 bytes are blank, and the positions of the set bits. Independent
// of lines. Only tokens.cpp includes it.
#pragma once

#include <cstdint>

#include "bytes.hpp"
#include "tokens.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define ASSAY_WIDE 1  // wider instructions can be compiled, and are used if the processor has them
#define ASSAY_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define ASSAY_AVX512 __attribute__((target("avx2,bmi,popcnt,avx512f,avx512bw,avx512vbmi2")))
#endif

namespace assay {

// One bit for each of 64 bytes, the lowest bit for the first byte.
struct Masks {
  uint64_t blank;    // isspace() in the C locale, which includes line feeds
  uint64_t newline;  // line feed
};

ASSAY_INLINE uint32_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<uint32_t>(bits * kEach >> 56);
}

constexpr uint32_t kSpare = 64;  // up to this many positions more than needed may be written

// A loop of unpredictable length costs more than a few needless writes.
template <class Processor>
ASSAY_INLINE uint32_t* write_one_by_one(uint32_t* place, uint64_t bits, uint32_t offset) {
  constexpr uint32_t kAtOnce = 12;
  const uint32_t count = count_bits(bits);
  for (uint32_t i = 0; i < kAtOnce; i++, bits &= bits - 1) place[i] = offset + Processor::lowest(bits);
  for (uint32_t i = kAtOnce; i < count; i++, bits &= bits - 1) place[i] = offset + Processor::lowest(bits);
  return place + count;
}

// Works on every processor.
struct Plain {
  static ASSAY_INLINE Masks masks(const char* p) {
#if defined(__SSE2__)
    Masks masks{0, 0};
    const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), feed = _mm_set1_epi8('\n');
    for (int part = 0; part < 4; part++) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * part));
      const __m128i above_tab = _mm_sub_epi8(bytes, tab);  // 0 to 4 for tab to carriage return
      const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(above_tab, _mm_set1_epi8(4)), above_tab);
      const auto bits = [part](__m128i mask) {
        return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(mask))) << (16 * part);
      };
      masks.blank |= bits(_mm_or_si128(is_control, _mm_cmpeq_epi8(bytes, space)));
      masks.newline |= bits(_mm_cmpeq_epi8(bytes, feed));
    }
    return masks;
#else
    Masks masks{0, 0};
    for (size_t i = 0; i < kBlock; i++) {
      const auto byte = static_cast<unsigned char>(p[i]);
      masks.blank |= static_cast<uint64_t>(byte == ' ' || (byte >= '\t' && byte <= '\r')) << i;
      masks.newline |= static_cast<uint64_t>(byte == '\n') << i;
    }
    return masks;
#endif
  }
  // The position of the lowest set bit; any number if none is set.
  static ASSAY_INLINE uint32_t lowest(uint64_t bits) { return lowest_bit(bits | uint64_t{1} << 63); }
  static ASSAY_INLINE uint32_t* write_places(uint32_t* place, uint64_t bits, uint32_t offset) {
    return write_one_by_one<Plain>(place, bits, offset);
  }
};

#if defined(ASSAY_WIDE)
// Nearly all x86 processors have it.
struct Avx2 {
  ASSAY_AVX2 static inline Masks masks(const char* p) {
    Masks masks{0, 0};
    const __m256i space = _mm256_set1_epi8(' '), tab = _mm256_set1_epi8('\t'), feed = _mm256_set1_epi8('\n');
    for (int part = 0; part < 2; part++) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * part));
      const __m256i above_tab = _mm256_sub_epi8(bytes, tab);
      const __m256i is_control = _mm256_cmpeq_epi8(_mm256_min_epu8(above_tab, _mm256_set1_epi8(4)), above_tab);
      const auto blank = _mm256_movemask_epi8(_mm256_or_si256(is_control, _mm256_cmpeq_epi8(bytes, space)));
      const auto newline = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, feed));
      masks.blank |= static_cast<uint64_t>(static_cast<uint32_t>(blank)) << (32 * part);
      masks.newline |= static_cast<uint64_t>(static_cast<uint32_t>(newline)) << (32 * part);
    }
    return masks;
  }
  ASSAY_AVX2 static inline uint32_t lowest(uint64_t bits) { return static_cast<uint32_t>(_tzcnt_u64(bits)); }
  ASSAY_AVX2 static inline uint32_t* write_places(uint32_t* place, uint64_t bits, uint32_t offset) {
    return write_one_by_one<Avx2>(place, bits, offset);
  }
};

// Servers have it since about 2020: one instruction gives the positions of all set bits.
struct Avx512 {
  ASSAY_AVX512 static inline Masks masks(const char* p) {
    const __m512i bytes = _mm512_loadu_si512(p);
    const __m512i above_tab = _mm512_sub_epi8(bytes, _mm512_set1_epi8('\t'));
    const uint64_t control = _mm512_cmple_epu8_mask(above_tab, _mm512_set1_epi8(4));
    return {control | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(' ')),
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'))};
  }
  // Computes all positions at once and writes 16 of them, as many as 64 bytes of a usual run have; more only if needed.
  ASSAY_AVX512 static inline uint32_t* write_places(uint32_t* place, uint64_t bits, uint32_t offset) {
    const uint32_t count = count_bits(bits);
    const __m512i places = _mm512_maskz_compress_epi8(bits, every_place());
    write_16<0>(place, places, offset);
    if (count > 16) {
      write_16<1>(place, places, offset);
      write_16<2>(place, places, offset);
      write_16<3>(place, places, offset);
    }
    return place + count;
  }
  // The masks select everything: without them GCC 12 warns about variables that its own header leaves unset.
  template <int Part>
  ASSAY_AVX512 static inline void write_16(uint32_t* place, __m512i places, uint32_t offset) {
    const __m512i wide = _mm512_maskz_cvtepu8_epi32(0xffff, _mm512_maskz_extracti32x4_epi32(0xf, places, Part));
    _mm512_storeu_si512(place + 16 * Part, _mm512_add_epi32(wide, _mm512_set1_epi32(static_cast<int>(offset))));
  }
  ASSAY_AVX512 static inline __m512i every_place() {  // 0 to 63
    return _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                            0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
  }
};
#endif

}  // namespace assay
