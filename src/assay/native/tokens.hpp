// Where tokens begin and end in a text, and where its lines end. Knows not what they mean.
//
// A text is looked at 64 bytes at a time, and only once: the places go into one list, from which lines are then cut.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "bytes.hpp"

namespace assay {

constexpr size_t kBlock = 64;        // bytes looked at at once: whoever gives a text has so many to spare behind it
constexpr uint32_t kMaxTokens = 32;  // per line; a file with more columns is left to the Python readers

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
inline Masks classify(const char* p) {
  Masks masks{0, 0};
  for (size_t i = 0; i < kBlock; i++) {
    const auto byte = static_cast<unsigned char>(p[i]);
    masks.blank |= static_cast<uint64_t>(byte == ' ' || (byte >= '\t' && byte <= '\r')) << i;
    masks.newline |= static_cast<uint64_t>(byte == '\n') << i;
  }
  return masks;
}
#endif

inline uint32_t lowest_bit(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<uint32_t>(__builtin_ctzll(mask));
#else
  uint32_t place = 0;
  while (!(mask >> place & 1)) place++;
  return place;
#endif
}

// The index of a text of whole lines.
class TextIndex {
 public:
  static constexpr uint32_t kEnd = std::numeric_limits<uint32_t>::max();
  static constexpr uint32_t kNothing = kEnd;  // an index of nothing

  // `size` is below 2^32; 64 bytes behind the text may be read.
  void build(const char* text, size_t size) {
    make_room(size);
    uint32_t *edge = edges_.get(), *feed = feeds_.get();
    uint64_t after_blank = 1;  // whether the byte before was blank, as before the text
    for (uint32_t offset = 0; offset < size; offset += kBlock) {
      Masks masks = classify(text + offset);
      if (size - offset < kBlock) {  // what stands behind the text is blank, and no line feed
        const uint64_t outside = ~uint64_t{0} << (size - offset);
        masks.blank |= outside;
        masks.newline &= ~outside;
      }
      uint64_t changes = masks.blank ^ (masks.blank << 1 | after_blank);
      after_blank = masks.blank >> 63;
      for (; changes; changes &= changes - 1) *edge++ = offset + lowest_bit(changes);
      for (; masks.newline; masks.newline &= masks.newline - 1) *feed++ = offset + lowest_bit(masks.newline);
    }
    for (uint32_t i = 0; i <= 2 * kMaxTokens; i++) edge[i] = kEnd;
    *feed = kEnd;
  }

  // Where tokens begin and end, by turns; then kEnd, more than once.
  const uint32_t* edges() const { return edges_.get(); }
  // Where lines end, which is the place of their line feed; then kEnd.
  const uint32_t* feeds() const { return feeds_.get(); }

 private:
  void make_room(size_t size) {
    if (size <= room_) return;
    room_ = size;
    edges_.reset(new uint32_t[size + kBlock + 2 * kMaxTokens + 1]);
    feeds_.reset(new uint32_t[size + 1]);
  }

  std::unique_ptr<uint32_t[]> edges_, feeds_;
  size_t room_ = 0;
};

// The tokens of one line.
struct Line {
  const char* text = nullptr;
  const uint32_t* edges = nullptr;

  ASSAY_INLINE Bytes token(int column) const {
    const uint32_t begin = edges[2 * column];
    return {text + begin, edges[2 * column + 1] - begin};
  }
};

}  // namespace assay
