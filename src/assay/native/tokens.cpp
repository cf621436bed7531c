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

constexpr uint32_t kAtOnce = 12;

// How a processor does it: what it calls a blank in 64 bytes, and the place of the lowest bit, which may be any number
// where there is none.
struct Plain {
  static ASSAY_INLINE Masks masks(const char* p) { return classify(p); }
  static ASSAY_INLINE uint32_t lowest(uint64_t bits) { return lowest_bit(bits | uint64_t{1} << 63); }
};

// The places of the bits that are set. A loop whose length nobody foresees costs more than some writes in vain.
template <class Processor>
ASSAY_INLINE uint32_t* write_places(uint32_t* place, uint64_t bits, uint32_t offset) {
  const uint32_t count = count_bits(bits);
  for (uint32_t i = 0; i < kAtOnce; i++, bits &= bits - 1) place[i] = offset + Processor::lowest(bits);
  for (uint32_t i = kAtOnce; i < count; i++, bits &= bits - 1) place[i] = offset + Processor::lowest(bits);
  return place + count;
}

struct Found {
  uint32_t* end;    // behind the places written
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
    place = write_places<Processor>(place, masks.blank, offset);
  }
  return {place, lines, doubled != 0};
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
// The same with instructions that nearly all processors have, but not the first of their kind.
#define ASSAY_NEWER __attribute__((target("avx2,bmi,popcnt")))

struct Newer {
  ASSAY_NEWER static inline Masks masks(const char* p) {
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
  ASSAY_NEWER static inline uint32_t lowest(uint64_t bits) { return static_cast<uint32_t>(_tzcnt_u64(bits)); }
};

ASSAY_NEWER Found find_blanks_faster(const char* text, size_t size, uint32_t* place) {
  return find_blanks<Newer>(text, size, place);
}

const bool has_newer = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
#else
constexpr bool has_newer = false;
#define find_blanks_faster find_blanks<Plain>
#endif

}  // namespace

bool TextIndex::build(const char* text, size_t size) {
  if (size > room_) {
    room_ = size;
    blanks_.reset(new uint32_t[1 + size + kAtOnce]);
  }
  blanks_[0] = kBefore;
  const Found found = has_newer ? find_blanks_faster(text, size, blanks_.get() + 1) : find_blanks<Plain>(text, size, blanks_.get() + 1);
  end_ = found.end - 1;
  lines_ = found.lines;
  return !found.doubled;
}

}  // namespace assay
