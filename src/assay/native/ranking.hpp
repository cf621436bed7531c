// The ranking of one query: begin, add documents, end. Gives the rank and tie span of each judged document.
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

// The rules that decide about ranks; see Rules in judged.py, which says what they mean.
struct RankingRules {
  Ties ties = Ties::by_id_down;
  Duplicates duplicates = Duplicates::refuse;
  bool by_rank_column = false;       // order="rank"
  bool ties_by_rank_column = false;  // ties="rank-column"
  bool float32 = false;
  bool drop_self_match = false;

  bool need_ranks() const { return by_rank_column || ties_by_rank_column; }
};

// The judged documents that were retrieved, and how many were retrieved in all; queries one after the other.
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

// Documents of one query, as far as their order goes: scores and, where the rules ask for them, rank columns.
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
    if (rules_.float32) score = static_cast<float>(score);  // infinite where it is too large, as in trec_eval 9
    if (rules_.need_ranks()) rank_.push(rank);
    score_.push(score);
  }

  // `ranks` may be null where nobody looks at them.
  void add_all(const double* scores, const int64_t* ranks, uint32_t count) {
    if (rules_.by_rank_column || rules_.float32) {
      for (uint32_t i = 0; i < count; i++) add(scores[i], ranks ? ranks[i] : 0);
      return;
    }
    score_.append(scores, count);
    if (ranks && rules_.need_ranks()) rank_.append(ranks, count);
  }

  uint32_t size() const { return static_cast<uint32_t>(score_.size()); }

  // Whether row a comes before row b, and does not merely stand before it in the input.
  bool better(uint32_t a, uint32_t b) const {
    if (score_[a] != score_[b]) return score_[a] > score_[b];
    return rules_.ties_by_rank_column && rank_[a] < rank_[b];
  }

  // Puts the rows in order; equal ones stay as they came. Most files are in order already.
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

  // After arrange(): what stands at a place, from 0.
  bool rearranged() const { return !order_.empty(); }
  uint32_t row_at(uint32_t place) const { return order_.empty() ? place : order_[place]; }
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

  // Leaves some rows out: `keep` says for each whether it stays.
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
  std::vector<uint32_t> order_;  // row at each place; empty where the rows came in order
};

// A judged document in the list.
struct Found {
  uint32_t place;     // in the list, from 0, before ties are broken by id
  uint32_t judgment;  // number among all judgments
};

// Gives each found document its rank and tie span. `found` is in order of place; `id_of_row` gives ids as bytes.
//
// Only groups of equal scores that hold a found document need their ids looked at. There the found ones are sorted by
// id, and every other member is put between them: n documents around f found ones cost n log f comparisons.
template <class IdOfRow>
void write_hits(const RankedList& list, const Rows<Found>& found, Ties ties, IdOfRow id_of_row, Rows<Hits::Hit>& out) {
  const uint32_t size = list.size();
  const auto before = [ties](Bytes a, Bytes b) {
    return ties == Ties::by_id_up ? compare(a, b) < 0 : compare(a, b) > 0;
  };
  std::vector<std::pair<Bytes, uint32_t>> members;  // id and judgment of the found documents of a group
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
    between.assign(members.size() + 1, 0);  // how many members stand before the found one, and behind the one before
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
