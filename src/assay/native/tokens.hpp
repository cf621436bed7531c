// Lines into tokens, 64 bytes at a time. Knows where tokens begin and end, not what they mean.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "bytes.hpp"
#include "outcome.hpp"

namespace assay {

constexpr size_t kBlock = 64;      // bytes looked at at once; buffers have so many to spare behind their last line
constexpr size_t kMaxTokens = 32;  // per line; a file with more columns is left to the Python readers

// One bit for each of 64 bytes, the first byte lowest.
struct Masks {
  uint64_t blank;    // space, tab or line feed
  uint64_t newline;  // line feed
  uint64_t odd;      // other control characters: carriage return, NUL and the like
};

#if defined(__SSE2__)
ASSAY_INLINE Masks classify(const char* p) {
  Masks masks{0, 0, 0};
  const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), feed = _mm_set1_epi8('\n');
  const __m128i highest_control = _mm_set1_epi8(0x1f);
  for (int part = 0; part < 4; part++) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * part));
    const __m128i is_feed = _mm_cmpeq_epi8(bytes, feed);
    const __m128i is_known = _mm_or_si128(is_feed, _mm_cmpeq_epi8(bytes, tab));
    const __m128i is_blank = _mm_or_si128(is_known, _mm_cmpeq_epi8(bytes, space));
    const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, highest_control), bytes);
    const auto bits = [part](__m128i mask) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(mask))) << (16 * part);
    };
    masks.blank |= bits(is_blank);
    masks.newline |= bits(is_feed);
    masks.odd |= bits(_mm_andnot_si128(is_known, is_control));
  }
  return masks;
}
#else
ASSAY_INLINE Masks classify(const char* p) {
  Masks masks{0, 0, 0};
  for (size_t i = 0; i < kBlock; i++) {
    const auto byte = static_cast<unsigned char>(p[i]);
    const uint64_t feed = byte == '\n', known = feed | (byte == '\t');
    masks.newline |= feed << i;
    masks.blank |= (known | (byte == ' ')) << i;
    masks.odd |= ((byte <= 0x1f) & ~known & 1) << i;
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

// The tokens of one line, all of them.
struct Tokens {
  uint32_t edge[2 * kMaxTokens + kBlock];  // where tokens begin and end, by turns, counted from the start of the line
  uint32_t edges = 0;
  const char* next = nullptr;  // the line after it
  bool odd = false;            // holds control characters: the edges mean nothing, see split_odd_line

  uint32_t count() const { return edges / 2; }
};

// Splits the line at `start`, which ends with a line feed; 64 bytes behind that may be read.
inline void split_line(const char* start, Tokens& tokens) {
  tokens.odd = false;
  uint32_t edges = 0;
  uint64_t after_blank = 1;  // whether the byte before was blank, as before the line
  for (uint32_t offset = 0;; offset += kBlock) {
    const Masks masks = classify(start + offset);
    const uint64_t feed = masks.newline & (~masks.newline + 1);
    const uint64_t inside = feed ? feed | (feed - 1) : ~uint64_t{0};  // up to the end of the line
    uint64_t changes = (masks.blank ^ (masks.blank << 1 | after_blank)) & inside;
    if (masks.odd & inside) tokens.odd = true;
    for (; changes; changes &= changes - 1) tokens.edge[edges++] = offset + lowest_bit(changes);
    if (edges > 2 * kMaxTokens) edges = 2 * kMaxTokens;
    if (feed) {
      tokens.edges = edges;
      tokens.next = start + offset + lowest_bit(feed) + 1;
      return;
    }
    after_blank = masks.blank >> 63;
  }
}

// The same for a line with control characters, byte by byte: of these, CR, VT and FF are blanks.
ASSAY_RARE inline void split_odd_line(const char* start, Tokens& tokens, bool stray_returns) {
  const char* last = tokens.next - 1;  // the line feed
  uint32_t edges = 0;
  bool in_token = false;
  for (const char* p = start; p <= last; p++) {
    const char c = *p;
    if (c == '\0') throw NotPlain();
    if (c == '\r' && p[1] != '\r' && p[1] != '\n' && !stray_returns) throw NotPlain();
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (blank == in_token) {
      if (edges == 2 * kMaxTokens) throw NotPlain();
      tokens.edge[edges++] = static_cast<uint32_t>(p - start);
      in_token = !in_token;
    }
  }
  tokens.edges = edges;
}

// What is asked of each line: some of its columns, from left to right.
struct Choice {
  uint32_t columns[4];
  uint32_t count = 0;
  uint32_t width = 0;  // how many columns a line has
};

// Chosen columns of one line.
struct Line {
  struct Span {
    uint32_t begin, end;
  };
  Span span[4];
  const char* start = nullptr;
  const char* next = nullptr;  // the line after it

  Bytes token(uint32_t chosen) const { return {start + span[chosen].begin, span[chosen].end - span[chosen].begin}; }
};

// Splits a line of up to 64 bytes without control characters and of just the right width, as most are: only the edges of
// the chosen columns are worked out, the others are passed over. False if the line is not like that.
ASSAY_INLINE bool split_short_line(const char* start, const Choice& choice, Line& line) {
  const Masks masks = classify(start);
  const uint64_t feed = masks.newline & (~masks.newline + 1);
  const uint64_t inside = feed | (feed - 1);
  if (!feed || (masks.odd & inside)) return false;
  constexpr uint64_t kSentinel = uint64_t{1} << 63;  // there is a lowest bit also where edges have run out
  uint64_t edges = (masks.blank ^ (masks.blank << 1 | 1)) & inside;
  uint32_t column = 0;
  for (uint32_t i = 0; i < choice.count; i++) {
    for (; column < choice.columns[i]; column++) {
      edges &= edges - 1;
      edges &= edges - 1;
    }
    line.span[i].begin = lowest_bit(edges | kSentinel);
    edges &= edges - 1;
    line.span[i].end = lowest_bit(edges | kSentinel);
    edges &= edges - 1;
    column++;
  }
  for (; column + 1 < choice.width; column++) {
    edges &= edges - 1;
    edges &= edges - 1;
  }
  if (column < choice.width) {
    edges &= edges - 1;
    if (!edges || (edges & (edges - 1))) return false;  // the end of the last column, and nothing else
  } else if (edges || line.span[choice.count - 1].begin == line.span[choice.count - 1].end) {
    return false;  // too long, or too short: the edges have run out
  }
  line.start = start;
  line.next = start + lowest_bit(feed) + 1;
  return true;
}

}  // namespace assay
