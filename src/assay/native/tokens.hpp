// Finds the blanks of a text, which separate its tokens. Independent of what the tokens mean.
//
// A text is scanned 64 bytes at a time; the positions go into one list, from which lines are then cut.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace assay {

constexpr size_t kBlock = 64;  // bytes scanned at a time: this many must be readable after a text

inline uint32_t lowest_bit(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<uint32_t>(__builtin_ctzll(mask));
#else
  uint32_t place = 0;
  while (!(mask >> place & 1)) place++;
  return place;
#endif
}

constexpr uint64_t kEach = 0x0101010101010101;  // times a byte gives that byte eight times

// The instruction sets that can find blanks on this processor. The first, which is the fastest, is used.
// Tests try the others; only speed depends on it.
std::vector<std::string> instructions();
bool use_instructions(const std::string& name);  // false if the processor lacks them

// The index of a text of whole lines in which one blank ends each token: the position of every blank.
class TextIndex {
 public:
  static constexpr uint32_t kBefore = std::numeric_limits<uint32_t>::max();  // a line feed just before the text

  // False if two blanks are adjacent or the text begins with one: then the text must be squeezed and indexed again.
  // `size` is below 2^32; up to 64 bytes after the text are read.
  bool build(const char* text, size_t size);

  void clear() { end_ = nullptr; }

  // kBefore, then the blanks.
  const uint32_t* begin() const { return blanks_.get(); }
  const uint32_t* end() const { return end_; }  // the last blank, which is a line feed
  size_t lines() const { return lines_; }

 private:
  std::unique_ptr<uint32_t[]> blanks_;
  const uint32_t* end_ = nullptr;
  size_t room_ = 0, lines_ = 0;
};

// One line, given by the blank before it and the blanks in it, the last of which is its line feed.
struct Line {
  const char* text = nullptr;
  const uint32_t* blanks = nullptr;

  ASSAY_INLINE Bytes token(int column) const {
    const uint32_t begin = blanks[column] + 1;
    return {text + begin, blanks[column + 1] - begin};
  }
};

// Consecutive lines. Each step of the work on them has its own loop: as long as a loop does little, the processor works
// on several lines at once, which makes reading a run a fifth faster.
struct LineBatch {
  static constexpr uint32_t kMost = 64;

  const char* text = nullptr;
  const uint32_t* blanks = nullptr;
  uint32_t width = 0, count = 0;

  ASSAY_INLINE Line operator[](uint32_t i) const { return {text, blanks + i * width}; }
};

}  // namespace assay
