#include "tokens.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace assay {

namespace {

// One bit for each of 64 bytes, the first byte lowest.
struct Masks {
  uint64_t blank;    // what C's isspace calls so, line feeds among them
  uint64_t newline;  // line feed
};

#if defined(__SSE2__)
ASSAY_INLINE Masks classify(const char* p) {
  Masks masks{0, 0};
  const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), feed = _mm_set1_epi8('\n');
  for (int part = 0; part < 4; part++) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * part));
    const __m128i above_tab = _mm_sub_epi8(bytes, tab);  // 0 to 4 for the blanks from tab to carriage return
    const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(above_tab, _mm_set1_epi8(4)), above_tab);
    const auto bits = [part](__m128i mask) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(mask))) << (16 * part);
    };
    masks.blank |= bits(_mm_or_si128(is_control, _mm_cmpeq_epi8(bytes, space)));
    masks.newline |= bits(_mm_cmpeq_epi8(bytes, feed));
  }
  return masks;
}
#else
ASSAY_INLINE Masks classify(const char* p) {
  Masks masks{0, 0};
  for (size_t i = 0; i < kBlock; i++) {
    const auto byte = static_cast<unsigned char>(p[i]);
    masks.blank |= static_cast<uint64_t>(byte == ' ' || (byte >= '\t' && byte <= '\r')) << i;
    masks.newline |= static_cast<uint64_t>(byte == '\n') << i;
  }
  return masks;
}
#endif

ASSAY_INLINE uint32_t count_bits(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<uint32_t>(bits * kEach >> 56);
}

constexpr uint32_t kSpare = 64;  // so many places more may be written, in vain, than a text has

// A loop whose length nobody foresees costs more than some writes in vain.
template <class Processor>
ASSAY_INLINE uint32_t* write_one_by_one(uint32_t* place, uint64_t bits, uint32_t offset) {
  constexpr uint32_t kAtOnce = 12;
  const uint32_t count = count_bits(bits);
  for (uint32_t i = 0; i < kAtOnce; i++, bits &= bits - 1) place[i] = offset + Processor::lowest(bits);
  for (uint32_t i = kAtOnce; i < count; i++, bits &= bits - 1) place[i] = offset + Processor::lowest(bits);
  return place + count;
}

// How a processor does it: which of 64 bytes are blanks, and writing the places of the bits that are set.
struct Plain {
  static ASSAY_INLINE Masks masks(const char* p) { return classify(p); }
  // The place of the lowest bit, which may be any number where there is none.
  static ASSAY_INLINE uint32_t lowest(uint64_t bits) { return lowest_bit(bits | uint64_t{1} << 63); }
  static ASSAY_INLINE uint32_t* write_places(uint32_t* place, uint64_t bits, uint32_t offset) {
    return write_one_by_one<Plain>(place, bits, offset);
  }
};

struct Found {
  uint32_t* end;  // behind the places written
  size_t lines;
  bool doubled;  // whether two blanks stand side by side, or one where the text begins
};

template <class Processor>
ASSAY_INLINE Found find_blanks(const char* text, size_t size, uint32_t* place) {
  uint64_t after_blank = 1, doubled = 0;
  size_t lines = 0;
  for (uint32_t offset = 0; offset < size; offset += kBlock) {
    Masks masks = Processor::masks(text + offset);
    if (size - offset < kBlock) {  // what stands behind the text is not looked at
      const uint64_t inside = ~(~uint64_t{0} << (size - offset));
      masks.blank &= inside;
      masks.newline &= inside;
    }
    doubled |= masks.blank & (masks.blank << 1 | after_blank);
    after_blank = masks.blank >> 63;
    lines += count_bits(masks.newline);
    place = Processor::write_places(place, masks.blank, offset);
  }
  return {place, lines, doubled != 0};
}

Found find_blanks_plain(const char* text, size_t size, uint32_t* place) { return find_blanks<Plain>(text, size, place); }

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
// The same with instructions that not all processors have.
#define ASSAY_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define ASSAY_AVX512 __attribute__((target("avx2,bmi,popcnt,avx512f,avx512bw,avx512vbmi2")))

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

struct Avx512 {
  ASSAY_AVX512 static inline Masks masks(const char* p) {
    const __m512i bytes = _mm512_loadu_si512(p);
    const __m512i above_tab = _mm512_sub_epi8(bytes, _mm512_set1_epi8('\t'));
    const uint64_t control = _mm512_cmple_epu8_mask(above_tab, _mm512_set1_epi8(4));
    return {control | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(' ')),
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'))};
  }
  // All places at once, 16 of them in one write, which is what 64 bytes of a usual run have at most.
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
  // With masks that take everything: without, GCC 12 warns of what its own header leaves unset.
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

ASSAY_AVX2 Found find_blanks_avx2(const char* text, size_t size, uint32_t* place) {
  return find_blanks<Avx2>(text, size, place);
}

ASSAY_AVX512 Found find_blanks_avx512(const char* text, size_t size, uint32_t* place) {
  return find_blanks<Avx512>(text, size, place);
}
#endif

using FindBlanks = Found (*)(const char*, size_t, uint32_t*);

struct Instructions {
  const char* name;
  FindBlanks find_blanks;
};

// Those of this processor, the fastest first.
std::vector<Instructions> those_at_hand() {
  std::vector<Instructions> at_hand;
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
  if (avx512) at_hand.push_back({"avx512", find_blanks_avx512});
  if (avx2) at_hand.push_back({"avx2", find_blanks_avx2});
#endif
  at_hand.push_back({"plain", find_blanks_plain});
  return at_hand;
}

const std::vector<Instructions> at_hand = those_at_hand();
FindBlanks find_blanks_now = at_hand[0].find_blanks;

}  // namespace

std::vector<std::string> instructions() {
  std::vector<std::string> names;
  for (const Instructions& each : at_hand) names.push_back(each.name);
  return names;
}

bool use_instructions(const std::string& name) {
  for (const Instructions& each : at_hand) {
    if (each.name != name) continue;
    find_blanks_now = each.find_blanks;
    return true;
  }
  return false;
}

bool TextIndex::build(const char* text, size_t size) {
  if (size > room_) {
    room_ = size;
    blanks_.reset(new uint32_t[1 + size + kSpare]);
  }
  blanks_[0] = kBefore;
  const Found found = find_blanks_now(text, size, blanks_.get() + 1);
  end_ = found.end - 1;
  lines_ = found.lines;
  return !found.doubled;
}

}  // namespace assay
