#include "judgments.hpp"

#include <algorithm>
#include <numeric>

#include "outcome.hpp"

namespace assay {

void Judgments::open_query(Bytes query) {
  if (open_ != kNone && equal(queries_[open_], query)) return;  // in most files the lines of a query stand together
  const size_t before = queries_.size();
  open_ = queries_.insert(query);
  if (queries_.size() > before) queries_.relocate_last(arena_.copy(query));
}

void Judgments::add(Bytes doc) {
  if (docs_.size() >= kNone - 1) throw NotPlain();
  docs_.push(arena_.copy(doc));
  query_.push(open_);
}

std::vector<uint32_t> Judgments::finish() {
  std::vector<uint32_t> moved = finish_distinct();
  refuse_duplicates();
  return moved;
}

std::vector<uint32_t> Judgments::finish_distinct() {
  queries_.finish();
  number_queries();
  return group_by_query();
}

void Judgments::number_queries() {
  const auto before = [this](uint32_t a, uint32_t b) { return compare(queries_[a], queries_[b]) < 0; };
  place_number_.resize(queries_.size());
  std::iota(place_number_.begin(), place_number_.end(), 0);
  if (!std::is_sorted(place_number_.begin(), place_number_.end(), before)) {
    std::sort(place_number_.begin(), place_number_.end(), before);
  }
  number_place_.resize(queries_.size());
  for (uint32_t place = 0; place < queries_.size(); place++) number_place_[place_number_[place]] = place;
}

std::vector<uint32_t> Judgments::group_by_query() {
  start_.assign(queries_.size() + 1, 0);
  for (uint32_t number : query_) start_[number_place_[number] + 1]++;
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  std::vector<uint32_t> next(start_.begin(), start_.end() - 1);
  std::vector<uint32_t> moved(docs_.size());
  bool in_order = true;
  for (size_t i = 0; i < docs_.size(); i++) {
    moved[i] = next[number_place_[query_[i]]]++;
    in_order &= moved[i] == i;
  }
  query_ = {};
  if (in_order) return {};
  rearrange(docs_, moved);
  return moved;
}

void Judgments::refuse_duplicates() const {
  constexpr uint32_t kFew = 8;  // up to this many are compared pairwise
  IdTable seen;
  for (uint32_t place = 0; place < queries(); place++) {
    const JudgedDocuments documents = this->documents(place);
    if (documents.count <= kFew) {
      for (uint32_t i = 0; i < documents.count; i++) {
        for (uint32_t j = 0; j < i; j++) {
          if (equal(documents.ids[i], documents.ids[j])) throw NotPlain();
        }
      }
      continue;
    }
    seen.clear();
    for (uint32_t i = 0; i < documents.count; i++) {
      if (seen.insert(documents.ids[i]) != i) throw NotPlain();
    }
  }
}

std::vector<uint32_t> places_in(const Judgments& judgments, const Judgments& others) {
  std::vector<uint32_t> places(judgments.size(), 0);
  IdTable table;
  uint32_t previous = kNone;
  for (uint32_t query = 0; query < judgments.queries(); query++) {
    const uint32_t other = others.find(judgments.query(query), previous);
    if (other == kNone) continue;
    previous = other;
    const JudgedDocuments documents = judgments.documents(query), known = others.documents(other);
    table.clear();
    for (uint32_t i = 0; i < known.count; i++) table.insert(known.ids[i]);
    table.finish();
    for (uint32_t i = 0; i < documents.count; i++) {
      const uint32_t number = table.find(documents.ids[i]);
      places[documents.first + i] = number == kNone ? 0 : number + 1;
    }
  }
  return places;
}

}  // namespace assay
