// The ranking of one query, and the rank and tie span of each judged document in it.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "bytes.hpp"
#include "judgments.hpp"
#include "outcome.hpp"

namespace assay {

enum class Ties { by_id_down, by_id_up, as_they_came };
enum class Duplicates { refuse, first, best };

// The rules that affect ranks. `Rules` in rules.py says what they mean.
struct RankingRules {
  Ties ties = Ties::by_id_down;
  Duplicates duplicates = Duplicates::refuse;
  bool by_rank_column = false;       // order="rank"
  bool ties_by_rank_column = false;  // ties="rank-column"
  bool float32 = false;
  bool drop_self_match = false;

  bool need_ranks() const { return by_rank_column || ties_by_rank_column; }
};

// The judged documents that were retrieved, and how many documents were retrieved, query by query.
struct Hits {
  struct Query {
    uint32_t place;
    uint32_t retrieved;
    uint32_t hits;
  };
  struct Hit {
    uint32_t rank, tie_first, tie_last;  // from 1
    uint32_t judgment;
  };
  Rows<Query> queries;
  Rows<Hit> hits;
};

// What the order of one query's documents depends on: scores and, if the rules need them, ranks.
class RankedList {
 public:
  explicit RankedList(const RankingRules& rules) : rules_(rules) {}

  void clear() {
    score_.clear();
    rank_.clear();
    order_.clear();
  }

  ASSAY_INLINE void add(double score, int64_t rank) {
    if (rules_.by_rank_column) score = -static_cast<double>(rank);
    if (rules_.float32) score = static_cast<float>(score);  // infinite if it is too large, as in trec_eval 9
    if (rules_.need_ranks()) rank_.push(rank);
    score_.push(score);
  }

  // `ranks` may be null if the rules do not need them.
  void add_all(const double* scores, const int64_t* ranks, uint32_t count) {
    if (rules_.by_rank_column || rules_.float32) {
      for (uint32_t i = 0; i < count; i++) add(scores[i], ranks ? ranks[i] : 0);
      return;
    }
    score_.append(scores, count);
    if (ranks && rules_.need_ranks()) rank_.append(ranks, count);
  }

  uint32_t size() const { return static_cast<uint32_t>(score_.size()); }

  // Whether row a ranks above row b by score and rank column, regardless of input order.
  bool better(uint32_t a, uint32_t b) const {
    if (score_[a] != score_[b]) return score_[a] > score_[b];
    return rules_.ties_by_rank_column && rank_[a] < rank_[b];
  }

  // Sorts the rows; ties stay in input order. Most files are sorted already.
  void arrange() {
    bool in_order = true;
    if (rules_.ties_by_rank_column) {
      for (uint32_t i = 1; i < size(); i++) in_order &= !better(i, i - 1);
    } else {
      const double* score = score_.begin();
      for (uint32_t i = 1, n = size(); i < n; i++) in_order &= score[i] <= score[i - 1];
    }
    if (in_order) return;
    order_.resize(size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) {
      if (score_[a] != score_[b]) return score_[a] > score_[b];
      if (rules_.ties_by_rank_column && rank_[a] != rank_[b]) return rank_[a] < rank_[b];
      return a < b;
    });
  }

  // After arrange(): what is at a place, counted from 0.
  bool rearranged() const { return !order_.empty(); }
  uint32_t row_at(uint32_t place) const { return order_.empty() ? place : order_[place]; }
  double score_of(uint32_t row) const { return score_[row]; }
  double score_at(uint32_t place) const { return score_[row_at(place)]; }

  // After arrange(): how many rows have a higher score.
  uint32_t places_above(double score) const {
    uint32_t low = 0, high = size();
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (score_at(middle) > score) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // Removes the rows for which `keep` is 0.
  void remove(const std::vector<char>& keep) {
    uint32_t kept = 0;
    for (uint32_t row = 0; row < keep.size(); row++) {
      if (!keep[row]) continue;
      score_[kept] = score_[row];
      if (rules_.need_ranks()) rank_[kept] = rank_[row];
      kept++;
    }
    score_.shorten(kept);
    if (rules_.need_ranks()) rank_.shorten(kept);
  }

 private:
  const RankingRules rules_;
  Rows<double> score_;
  Rows<int64_t> rank_;
  std::vector<uint32_t> order_;  // the row at each place; empty if the rows came in order
};

// A judged document in the list.
struct Found {
  uint32_t place;     // in the list, from 0, before ties are broken by id
  uint32_t judgment;  // its number among all judgments
};

// Gives the rows of the first `depth` documents to `take`, best first. Ids matter only among equal scores.
template <class IdOfRow, class Take>
void take_first(const RankedList& list, uint32_t depth, Ties ties, IdOfRow id_of_row, Take take) {
  const uint32_t size = list.size(), wanted = std::min(depth, size);
  const auto before = [&](uint32_t a, uint32_t b) {
    const int order = compare(id_of_row(a), id_of_row(b));
    return ties == Ties::by_id_up ? order < 0 : order > 0;
  };
  std::vector<uint32_t> members;  // of a group of equal scores
  for (uint32_t place = 0; place < wanted;) {
    const double score = list.score_at(place);
    uint32_t end = place + 1;
    while (end < size && list.score_at(end) == score) end++;
    members.clear();
    for (uint32_t i = place; i < end; i++) members.push_back(list.row_at(i));
    const uint32_t kept = std::min(end, wanted) - place;
    if (ties != Ties::as_they_came) {
      std::partial_sort(members.begin(), members.begin() + kept, members.end(), before);
    }
    for (uint32_t i = 0; i < kept; i++) take(members[i]);
    place += kept;
  }
}

// Writes the rank and tie span of each found document. `found` is sorted by place; `id_of_row` returns ids as bytes.
//
// Ids matter only in groups of equal scores that contain a found document. There the found documents are sorted by id,
// and every member is located among them by binary search: n members and f found ones cost n log f comparisons.
template <class IdOfRow>
void write_hits(const RankedList& list, const Rows<Found>& found, Ties ties, IdOfRow id_of_row, Rows<Hits::Hit>& out) {
  const uint32_t size = list.size();
  const auto before = [ties](Bytes a, Bytes b) {
    return ties == Ties::by_id_up ? compare(a, b) < 0 : compare(a, b) > 0;
  };
  std::vector<std::pair<Bytes, uint32_t>> members;  // the found documents of a group: id and judgment
  std::vector<uint32_t> between;
  for (size_t i = 0; i < found.size();) {
    const double score = list.score_at(found[i].place);
    uint32_t first = found[i].place, last = first;
    while (first > 0 && list.score_at(first - 1) == score) first--;
    while (last + 1 < size && list.score_at(last + 1) == score) last++;
    size_t end = i;
    while (end < found.size() && found[end].place <= last) end++;
    if (first == last || ties == Ties::as_they_came) {
      for (; i < end; i++) out.push({found[i].place + 1, first + 1, last + 1, found[i].judgment});
      continue;
    }
    members.clear();
    for (; i < end; i++) members.emplace_back(id_of_row(list.row_at(found[i].place)), found[i].judgment);
    std::sort(members.begin(), members.end(), [&](auto& a, auto& b) { return before(a.first, b.first); });
    between.assign(members.size() + 1, 0);  // members up to and including each found document, from the previous one on
    for (uint32_t place = first; place <= last; place++) {
      const Bytes id = id_of_row(list.row_at(place));
      const auto next = std::lower_bound(members.begin(), members.end(), id,
                                         [&](auto& member, Bytes other) { return before(member.first, other); });
      between[static_cast<size_t>(next - members.begin())]++;
    }
    uint32_t rank = first;
    for (size_t m = 0; m < members.size(); m++) {
      rank += between[m];
      out.push({rank, first + 1, last + 1, members[m].second});
    }
  }
}

}  // namespace assay
