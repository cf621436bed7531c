// Where the blanks of a text are, between which its tokens stand. Knows not what they mean.
//
// A text is looked at 64 bytes at a time: the places go into one list, from which lines are then cut.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace assay {

constexpr size_t kBlock = 64;  // bytes looked at at once: whoever gives a text has so many to spare behind it

inline uint32_t lowest_bit(uint64_t mask) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<uint32_t>(__builtin_ctzll(mask));
#else
  uint32_t place = 0;
  while (!(mask >> place & 1)) place++;
  return place;
#endif
}

constexpr uint64_t kEach = 0x0101010101010101;  // times a byte: that byte eight times

// The names of the instructions that can find blanks on this processor. The first, which is the fastest, does; tests try
// the others, and nothing but time depends on it.
std::vector<std::string> instructions();
bool use_instructions(const std::string& name);  // false if the processor has no such ones

// The index of a text of whole lines in which one blank ends each token: the place of every blank.
class TextIndex {
 public:
  static constexpr uint32_t kBefore = std::numeric_limits<uint32_t>::max();  // where a line feed before the text stood

  // False where two blanks stand side by side or the text begins with one: then it wants squeezing, and there is no
  // index. `size` is below 2^32; 64 bytes behind the text may be read.
  bool build(const char* text, size_t size);

  void clear() { end_ = nullptr; }

  // Where a line feed would stand before the text, then the blanks.
  const uint32_t* begin() const { return blanks_.get(); }
  const uint32_t* end() const { return end_; }  // the last blank, which is a line feed
  size_t lines() const { return lines_; }

 private:
  std::unique_ptr<uint32_t[]> blanks_;
  const uint32_t* end_ = nullptr;
  size_t room_ = 0, lines_ = 0;
};

// One line, by the blank before it and those in it, of which its line feed is the last.
struct Line {
  const char* text = nullptr;
  const uint32_t* blanks = nullptr;

  ASSAY_INLINE Bytes token(int column) const {
    const uint32_t begin = blanks[column] + 1;
    return {text + begin, blanks[column + 1] - begin};
  }
};

// Lines that follow each other. What is done to each goes in a loop of its own: the processor works on several lines
// at once as long as a loop does little, which takes a fifth off the time of a run.
struct LineBatch {
  static constexpr uint32_t kMost = 64;

  const char* text = nullptr;
  const uint32_t* blanks = nullptr;
  uint32_t width = 0, count = 0;

  ASSAY_INLINE Line operator[](uint32_t i) const { return {text, blanks + i * width}; }
};

}  // namespace assay
