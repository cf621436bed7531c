// Judgments indexed for joining: built once, used for many runs and threads. Independent of files and rankings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bytes.hpp"

namespace assay {

constexpr uint32_t kNone = ~uint32_t{0};

// Numbers ids 0, 1, 2 and so on in the order in which they come. Someone else owns the ids.
//
// As long as they come in ascending byte order, as in most files, each is known to be new without a table.
class IdTable {
 public:
  // The number of an id; a new id gets the next number.
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

  // Call it after the last insert and before find().
  void finish() {
    if (slots_.empty()) make_table();
  }

  uint32_t find(Bytes id) const { return slots_[find_slot(id, hash(id))].number; }

  // Frees the table: emptying a large one again and again could take longer than filling it.
  void clear() {
    slots_ = {};
    ids_.clear();
  }

  // Points the last inserted id to another copy of it.
  void relocate_last(Bytes id) { ids_[ids_.size() - 1] = id; }

  size_t size() const { return ids_.size(); }
  Bytes operator[](uint32_t number) const { return ids_[number]; }

 private:
  struct Slot {
    uint32_t tag;  // the upper half of the hash: ids are compared only if it matches
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

  // Makes a table with room for twice as many ids.
  void make_table() {
    size_t size = 64;
    while (size < 4 * ids_.size()) size *= 2;
    slots_.assign(size, Slot{0, kNone});
    for (uint32_t number = 0; number < ids_.size(); number++) {
      const uint64_t full = hash(ids_[number]);
      slots_[find_slot(ids_[number], full)] = {static_cast<uint32_t>(full >> 32), number};
    }
  }

  std::vector<Slot> slots_;  // empty while ids come in order; then a power of two, at most half full
  Rows<Bytes> ids_;
};

// The judged documents of one query, with which a ranking is joined.
struct JudgedDocuments {
  const Bytes* ids = nullptr;
  uint32_t count = 0;
  uint32_t first = 0;  // the number of the first one among all judgments
};

// Moves the value at i to moved[i]. With millions of values, doing it in place would take one and a half times as long.
template <class T>
void rearrange(Rows<T>& values, const std::vector<uint32_t>& moved) {
  const std::vector<T> as_they_came(values.begin(), values.begin() + moved.size());
  for (size_t i = 0; i < moved.size(); i++) values[moved[i]] = as_they_came[i];
}

// Judgments are numbered by query, in byte order, and within a query in input order.
class Judgments {
 public:
  void open_query(Bytes query);
  void add(Bytes doc);

  // Puts the judgments in order and returns the number that each one gets, or nothing if all keep theirs. Throws
  // NotPlain if a document is judged twice for a query: the Python path then reports it or chooses one.
  std::vector<uint32_t> finish();

  // The same for documents that certainly come once for a query.
  std::vector<uint32_t> finish_distinct();

  size_t queries() const { return queries_.size(); }
  size_t size() const { return docs_.size(); }
  Bytes query(uint32_t place) const { return queries_[place_number_[place]]; }
  Bytes doc(size_t number) const { return docs_[number]; }
  const std::vector<uint32_t>& starts() const { return start_; }  // query i has judgments start[i] to start[i + 1] - 1

  const std::vector<uint32_t>& numbers() const { return place_number_; }  // when the query at each place was opened

  // The place of a query in byte order, or kNone. Runs and judgments often have their queries in the same order, so the
  // query after `previous` is tried first.
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
  IdTable queries_;                                    // numbered in input order
  std::vector<uint32_t> number_place_, place_number_;  // number to place in byte order, and back
  Rows<Bytes> docs_;
  Rows<uint32_t> query_;  // the query number of each judgment; only while building
  std::vector<uint32_t> start_;
  uint32_t open_ = kNone;
};

// For each document of `judgments`: which document of the same query it is in `others`, from 1; 0 if it is not there.
std::vector<uint32_t> places_in(const Judgments& judgments, const Judgments& others);

}  // namespace assay
