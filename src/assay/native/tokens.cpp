#include "tokens.hpp"

#include "processors.hpp"

namespace assay {

namespace {

struct Found {
  uint32_t* end;  // after the positions written
  size_t lines;
  bool doubled;  // whether two blanks are adjacent, or the text begins with one
};

template <class Processor>
ASSAY_INLINE Found find_blanks(const char* text, size_t size, uint32_t* place) {
  uint64_t after_blank = 1, doubled = 0;
  size_t lines = 0;
  for (uint32_t offset = 0; offset < size; offset += kBlock) {
    Masks masks = Processor::masks(text + offset);
    if (size - offset < kBlock) {  // ignore what follows the text
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

Found find_blanks_plain(const char* text, size_t size, uint32_t* place) {
  return find_blanks<Plain>(text, size, place);
}

#if defined(ASSAY_WIDE)
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

// Those that this processor has, the fastest first.
std::vector<Instructions> those_at_hand() {
  std::vector<Instructions> at_hand;
#if defined(ASSAY_WIDE)
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
    room_ = size + size / 8;  // the next text may be a little longer
    blanks_.reset(new uint32_t[1 + room_ + kSpare]);
  }
  blanks_[0] = kBefore;
  const Found found = find_blanks_now(text, size, blanks_.get() + 1);
  end_ = found.end - 1;
  lines_ = found.lines;
  return !found.doubled;
}

}  // namespace assay
