// Joins the ranking of one query with its judgments, by ids as bytes: begin a query, add its documents, end it.
#pragma once

#include <cstdint>
#include <vector>

#include "bytes.hpp"
#include "judgments.hpp"
#include "ranking.hpp"

namespace assay {

// Documents, column by column.
struct Documents {
  const Bytes* ids;
  const uint64_t* hashes;
  const double* scores;
  const int64_t* ranks;

  Documents operator+(uint32_t skipped) const {
    return {ids + skipped, hashes + skipped, scores + skipped, ranks + skipped};
  }
};

class Joiner {
 public:
  explicit Joiner(const RankingRules& rules) : rules_(rules), list_(rules) {}

  // The memory of document ids must stay valid until end() or keep_ids().
  void begin(Bytes query, const JudgedDocuments& judged) {
    query_ = query;
    judged_ = judged;
    list_.clear();
    ids_.clear();
    matches_.clear();
    dropped_.clear();
    make_table();
  }

  // One probe both joins a document and detects a repeat: the table starts with the judged documents, and each document
  // that comes is entered or takes the place of its judged entry.
  ASSAY_INLINE void add(Bytes id, double score, int64_t rank) { add(id, hash(id), score, rank); }

  ASSAY_INLINE void add(Bytes id, uint64_t full, double score, int64_t rank) {
    if (rules_.drop_self_match && equal(id, query_)) return;
    const uint32_t row = list_.size();
    if (row == kMostRows) throw NotPlain();
    const auto tag = static_cast<uint32_t>(full >> 32);
    size_t slot = full & mask_;
    for (; table_[slot].entry != kNone; slot = (slot + 1) & mask_) {
      const Slot found = table_[slot];
      if (found.tag != tag) continue;
      if (found.entry & kCame) {
        if (equal(ids_[found.entry & ~kCame], id)) return add_again(slot, id, score, rank);
      } else if (equal(judged_.ids[found.entry], id)) {
        matches_.push_back({row, found.entry});
        table_[slot].entry = row | kCame;
        return append(id, score, rank);
      }
    }
    table_[slot] = {tag, row | kCame};
    append(id, score, rank);
    if (2 * ++used_ > mask_) grow();
  }

  // Adds consecutive documents, which makes reading a run a tenth faster: nearly all of them are new, and adding a new
  // one needs only registers and the table.
  void add_all(const Documents& documents, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      if (!rules_.drop_self_match) i = enter(documents, i, count);
      if (i < count) add(documents.ids[i], documents.hashes[i], documents.scores[i], documents.ranks[i]);
    }
  }

  // Copies the ids, because their memory is about to be reused.
  void keep_ids() {
    for (; kept_from_ < ids_.size(); kept_from_++) ids_[kept_from_] = arena_.copy(ids_[kept_from_]);
  }

  void end(uint32_t place, Hits& hits) {
    arrange();
    place_matches();
    const size_t before = hits.hits.size();
    const auto id_of_row = [this](uint32_t row) { return ids_[row]; };
    write_hits(list_, found_, rules_.ties, id_of_row, hits.hits);
    hits.queries.push({place, list_.size(), static_cast<uint32_t>(hits.hits.size() - before)});
    forget_ids();
  }

  // Instead of end(), for all documents, judged or not: gives the ids and scores of the first `depth` to `take`, best
  // first, and returns how many documents there are.
  template <class Take>
  uint32_t end_with_first(uint32_t depth, Take take) {
    arrange();
    const auto id_of_row = [this](uint32_t row) { return ids_[row]; };
    take_first(list_, depth, rules_.ties, id_of_row, [&](uint32_t row) { take(ids_[row], list_.score_of(row)); });
    forget_ids();
    return list_.size();
  }

  // After end(), for scores made from ranks: whether the ranks are 1, 2, 3 and so on, without repeats.
  bool ranks_from_one() const {
    for (uint32_t place = 1; place < list_.size(); place++) {
      if (list_.score_at(place) == list_.score_at(place - 1)) return false;
    }
    return list_.size() == 0 || list_.score_at(0) == -1.0;
  }

 private:
  struct Slot {
    uint32_t tag;
    uint32_t entry;  // kNone, or a judged document that has not come yet, or a row with kCame set
  };
  struct Match {
    uint32_t row, judged;
  };
  static constexpr uint32_t kCame = uint32_t{1} << 31;
  static constexpr uint32_t kMostRows = kCame - 2;

  // Adds documents up to the first that may be a repeat, and returns the place of that one.
  uint32_t enter(const Documents& documents, uint32_t begin, uint32_t end) {
    if (list_.size() > kMostRows - (end - begin)) throw NotPlain();
    while (2 * (used_ + end - begin) > mask_) grow();
    Slot* const table = table_.data();
    const size_t mask = mask_;
    const uint32_t shift = list_.size() - begin;
    uint32_t place = begin, known = 0;
    for (; place < end; place++) {
      const uint64_t full = documents.hashes[place];
      const auto tag = static_cast<uint32_t>(full >> 32);
      size_t slot = full & mask;
      while (table[slot].entry != kNone && table[slot].tag != tag) slot = (slot + 1) & mask;
      const uint32_t entry = table[slot].entry, row = shift + place;
      if (entry != kNone) {
        if (entry & kCame || !equal(judged_.ids[entry], documents.ids[place])) break;
        matches_.push_back({row, entry});
        known++;
      }
      table[slot] = {tag, row | kCame};
    }
    used_ += place - begin - known;
    ids_.append(documents.ids + begin, place - begin);
    list_.add_all(documents.scores + begin, documents.ranks + begin, place - begin);
    return place;
  }

  ASSAY_INLINE void append(Bytes id, double score, int64_t rank) {
    list_.add(score, rank);
    ids_.push(id);
  }

  // A repeated document: refused, or the first or the best one counts.
  ASSAY_RARE void add_again(size_t slot, Bytes id, double score, int64_t rank) {
    if (rules_.duplicates == Duplicates::refuse) throw NotPlain();
    if (rules_.duplicates == Duplicates::first) return;
    const uint32_t earlier = table_[slot].entry & ~kCame, later = list_.size();
    append(id, score, rank);
    const bool replaced = list_.better(later, earlier);
    dropped_.push_back(replaced ? earlier : later);
    if (!replaced) return;
    table_[slot].entry = later | kCame;
    for (Match& match : matches_) {
      if (match.row == earlier) match.row = later;
    }
  }

  void arrange() {
    if (!dropped_.empty()) remove_dropped();
    list_.arrange();
  }

  // The memory of the ids may be reused from here on.
  void forget_ids() {
    expected_ = list_.size();
    ids_.clear();
    kept_from_ = 0;
    arena_.clear();
  }

  void remove_dropped() {
    std::vector<char> keep(ids_.size(), 1);
    for (uint32_t row : dropped_) keep[row] = 0;
    std::vector<uint32_t> moved(ids_.size());
    uint32_t kept = 0;
    for (uint32_t row = 0; row < ids_.size(); row++) {
      moved[row] = kept;
      if (keep[row]) ids_[kept++] = ids_[row];
    }
    ids_.shorten(kept);
    for (Match& match : matches_) match.row = moved[match.row];
    list_.remove(keep);
  }

  // Puts the judged documents in the order of their places in the list.
  void place_matches() {
    found_.clear();
    if (!list_.rearranged()) {
      for (const Match& match : matches_) found_.push({match.row, judged_.first + match.judged});
      if (!dropped_.empty()) sort_found();
      return;
    }
    place_of_row_.resize(list_.size());
    for (uint32_t place = 0; place < list_.size(); place++) place_of_row_[list_.row_at(place)] = place;
    for (const Match& match : matches_) found_.push({place_of_row_[match.row], judged_.first + match.judged});
    sort_found();
  }

  void sort_found() {
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.place < b.place; });
  }

  // Makes room for the judged documents and for as many others as the previous query had.
  void make_table() {
    size_t size = 64;
    while (size < 3 * (size_t{judged_.count} + expected_)) size *= 2;
    empty_table(size);
    used_ = judged_.count;
    for (uint32_t i = 0; i < judged_.count; i++) {
      const uint64_t full = hash(judged_.ids[i]);
      put({static_cast<uint32_t>(full >> 32), i}, full);
    }
  }

  // Fills it with kNone byte by byte, which is the fastest way.
  void empty_table(size_t size) {
    table_.resize(size);
    std::memset(static_cast<void*>(table_.data()), 0xff, size * sizeof(Slot));
    mask_ = size - 1;
  }

  ASSAY_RARE void grow() {
    const std::vector<Slot> old = std::move(table_);
    empty_table(2 * old.size());
    for (const Slot& slot : old) {
      if (slot.entry == kNone) continue;
      put(slot, hash(slot.entry & kCame ? ids_[slot.entry & ~kCame] : judged_.ids[slot.entry]));
    }
  }

  void put(Slot entry, uint64_t full) {
    size_t slot = full & mask_;
    while (table_[slot].entry != kNone) slot = (slot + 1) & mask_;
    table_[slot] = entry;
  }

  const RankingRules rules_;
  RankedList list_;
  Bytes query_;
  JudgedDocuments judged_;
  Rows<Bytes> ids_;  // by row
  std::vector<Match> matches_;
  Rows<Found> found_;
  std::vector<uint32_t> dropped_, place_of_row_;
  std::vector<Slot> table_;
  size_t mask_ = 0, used_ = 0;
  uint32_t expected_ = 0;
  Arena arena_;  // ids that had to be copied
  size_t kept_from_ = 0;
};

}  // namespace assay
