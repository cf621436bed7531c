// Judgments made ready for joining with runs: built once, read by many runs and threads. Knows no file and no ranking.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bytes.hpp"

namespace assay {

constexpr uint32_t kNone = ~uint32_t{0};

// Ids and their numbers: 0, 1, 2 in the order in which they came. The ids are kept by somebody else.
//
// As long as each comes behind the one before in byte order, as in most files, no table is needed to see that it is
// new.
class IdTable {
 public:
  // The number of an id, which gets the next one if it is new.
  uint32_t insert(Bytes id) {
    if (slots_.empty() && (ids_.empty() || compare(ids_[ids_.size() - 1], id) < 0)) {
      ids_.push(id);
      return static_cast<uint32_t>(ids_.size() - 1);
    }
    if (2 * (ids_.size() + 1) > slots_.size()) make_table();
    const uint64_t full = hash(id);
    const size_t slot = find_slot(id, full);
    if (slots_[slot].number == kNone) {
      slots_[slot] = {static_cast<uint32_t>(full >> 32), static_cast<uint32_t>(ids_.size())};
      ids_.push(id);
    }
    return slots_[slot].number;
  }

  // After the last insert, for find().
  void finish() {
    if (slots_.empty()) make_table();
  }

  uint32_t find(Bytes id) const { return slots_[find_slot(id, hash(id))].number; }

  // A table is let go: emptying it again and again could take longer than filling it did.
  void clear() {
    slots_ = {};
    ids_.clear();
  }

  // Lets the last inserted id be kept elsewhere.
  void relocate_last(Bytes id) { ids_[ids_.size() - 1] = id; }

  size_t size() const { return ids_.size(); }
  Bytes operator[](uint32_t number) const { return ids_[number]; }

 private:
  struct Slot {
    uint32_t tag;  // the upper half of the hash: ids are compared only where it is equal
    uint32_t number;
  };

  size_t find_slot(Bytes id, uint64_t full) const {
    const auto tag = static_cast<uint32_t>(full >> 32);
    size_t slot = full & (slots_.size() - 1);
    while (slots_[slot].number != kNone && !(slots_[slot].tag == tag && equal(ids_[slots_[slot].number], id))) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }

  // A table with room for as many ids again.
  void make_table() {
    size_t size = 64;
    while (size < 4 * ids_.size()) size *= 2;
    slots_.assign(size, Slot{0, kNone});
    for (uint32_t number = 0; number < ids_.size(); number++) {
      const uint64_t full = hash(ids_[number]);
      slots_[find_slot(ids_[number], full)] = {static_cast<uint32_t>(full >> 32), number};
    }
  }

  std::vector<Slot> slots_;  // none as long as ids come in order, then a power of two of them, at most half used
  Rows<Bytes> ids_;
};

// The judged documents of one query: what a ranking is joined with.
struct JudgedDocuments {
  const Bytes* ids = nullptr;
  uint32_t count = 0;
  uint32_t first = 0;  // the number of the first one among all judgments
};

// Puts values where they belong: the one at i goes to moved[i]. In place it would take half as long again where there are
// millions.
template <class T>
void rearrange(Rows<T>& values, const std::vector<uint32_t>& moved) {
  const std::vector<T> as_they_came(values.begin(), values.begin() + moved.size());
  for (size_t i = 0; i < moved.size(); i++) values[moved[i]] = as_they_came[i];
}

// Judgments are numbered by query, in byte order, and within a query as they came in.
class Judgments {
 public:
  void open_query(Bytes query);
  void add(Bytes doc);

  // Puts all in order, which `moved` tells: the number that each judgment gets, or nothing if they keep theirs. Throws
  // NotPlain where a document is judged twice for a query: the Python path says which, or chooses one.
  std::vector<uint32_t> finish();

  size_t queries() const { return queries_.size(); }
  size_t size() const { return docs_.size(); }
  Bytes query(uint32_t place) const { return queries_[place_number_[place]]; }
  Bytes doc(size_t number) const { return docs_[number]; }
  const std::vector<uint32_t>& starts() const { return start_; }  // query i has start[i] up to start[i + 1]

  // The place of a query among all, or kNone. Runs and judgments often have their queries in the same order, so the
  // one that came after the `previous` is tried first.
  uint32_t find(Bytes query, uint32_t previous) const {
    const uint32_t guess = previous == kNone ? 0 : place_number_[previous] + 1;
    if (guess < queries_.size() && equal(queries_[guess], query)) return number_place_[guess];
    const uint32_t number = queries_.find(query);
    return number == kNone ? kNone : number_place_[number];
  }

  JudgedDocuments documents(uint32_t place) const {
    const uint32_t first = start_[place];
    return {docs_.begin() + first, start_[place + 1] - first, first};
  }

 private:
  void number_queries();
  std::vector<uint32_t> group_by_query();
  void refuse_duplicates() const;

  Arena arena_;
  IdTable queries_;  // numbered as they came in
  std::vector<uint32_t> number_place_, place_number_;  // from number to place in byte order, and back
  Rows<Bytes> docs_;
  Rows<uint32_t> query_;  // of each judgment, by number; only while building
  std::vector<uint32_t> start_;
  uint32_t open_ = kNone;
};

}  // namespace assay
