// Joins runs given as dicts of dicts, {query: {document: score}}.
#pragma once

#include "judgments.hpp"
#include "python.hpp"
#include "ranking.hpp"
#include "text.hpp"

namespace assay {

// The judged documents of one query, keyed by the hashes that Python has already computed.
class JudgedTable {
 public:
  void fill(PyObject* docs, const JudgedDocuments& judged);
  bool empty() const { return slots_.empty(); }

  // Prefetches its memory.
  void fetch_slots() const { fetch(slots_.data(), slots_.size()); }

  // False if no judged document has this hash. The filter sets one bit per document and stays in cache.
  ASSAY_INLINE bool may_hold(uint64_t full) const { return sieve_[word_of(full)] & bit_of(full); }

  // The judgment with this hash for which `is_it` is true, or kNone.
  template <class IsIt>
  uint32_t find(uint64_t full, IsIt is_it) const {
    const size_t mask = slots_.size() - 1;
    for (size_t slot = full & mask; slots_[slot].judgment != kNone; slot = (slot + 1) & mask) {
      const Slot found = slots_[slot];
      if (found.tag == full >> 32 && is_it(found.judgment)) return found.judgment;
    }
    return kNone;
  }

 private:
  struct Slot {
    uint32_t tag;  // the upper half of the hash
    uint32_t judgment;
  };

  ASSAY_INLINE size_t word_of(uint64_t full) const { return full >> 6 & (sieve_.size() - 1); }
  ASSAY_INLINE static uint64_t bit_of(uint64_t full) { return uint64_t{1} << (full & 63); }

  std::vector<Slot> slots_;
  std::vector<uint64_t> sieve_;
};

// What dicts are joined with: the judgments, and the Python objects that go with them. Made once, for many runs.
class DictIndex {
 public:
  // `capsule` keeps the judgments alive.
  DictIndex(Ref capsule, const Judgments& judgments, Ref docs, Ref place, Ref numbers);

  const JudgedTable& table(uint32_t place) const;

  const Judgments& judgments;
  PyObject* const docs;     // list: the judged documents, in the order of the judgments
  PyObject* const place;    // dict: query -> its place among the judged queries
  PyObject* const numbers;  // tuple: the types accepted as numbers

 private:
  mutable std::vector<JudgedTable> tables_;  // by query, filled on first use, under the GIL
  const Ref kept_[4];
};

void join_dict(const DictIndex& with, PyObject* run, const RankingRules& rules, Join& join);

}  // namespace assay
