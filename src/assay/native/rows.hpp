// Joins runs that are in memory as rows: Run tables and Arrow columns.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "arrow.hpp"
#include "joiner.hpp"
#include "judgments.hpp"
#include "text.hpp"

namespace assay {

// The order that puts the rows of each judged query together, in input order; empty if they already are.
inline std::vector<uint32_t> grouped(const std::vector<uint32_t>& place_of_row, size_t queries) {
  std::vector<char> seen(queries, 0);
  bool contiguous = true;
  for (size_t row = 0; row < place_of_row.size() && contiguous; row++) {
    const uint32_t place = place_of_row[row];
    if (place == kNone || (row > 0 && place == place_of_row[row - 1])) continue;
    contiguous = !seen[place];
    seen[place] = 1;
  }
  if (contiguous) return {};
  std::vector<uint32_t> next(queries + 2, 0);  // queries without judgments come last
  const auto slot = [queries](uint32_t place) { return place == kNone ? queries : place; };
  for (uint32_t place : place_of_row) next[slot(place) + 1]++;
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<uint32_t> order(place_of_row.size());
  for (uint32_t row = 0; row < order.size(); row++) order[next[slot(place_of_row[row])]++] = row;
  return order;
}

// Joins rows with the judgments. `Rows` has doc(row), score(row) and rank(row).
template <class Rows>
void join_rows(const Judgments& judgments, const std::vector<uint32_t>& place_of_row, Rows& rows,
               const RankingRules& rules, Join& join) {
  const std::vector<uint32_t> order = grouped(place_of_row, judgments.queries());
  Joiner joiner(rules);
  join.parts.resize(1);
  join.answered.assign(judgments.queries(), 0);
  uint32_t open = kNone;
  for (size_t i = 0; i < place_of_row.size(); i++) {
    const uint32_t row = order.empty() ? static_cast<uint32_t>(i) : order[i];
    const uint32_t place = place_of_row[row];
    if (place == kNone) continue;
    if (place != open) {
      if (open != kNone) joiner.end(open, join.parts[0]);
      open = place;
      join.answered[place] = 1;
      joiner.begin(judgments.query(place), judgments.documents(place));
    }
    joiner.add(rows.doc(row), rows.score(row), rows.rank(row));
  }
  if (open != kNone) joiner.end(open, join.parts[0]);
}

// Joins the rows of an Arrow stream; the layout says which column holds what.
void join_arrow(const Judgments& judgments, ArrowArrayStream& stream, const Layout& layout, const RankingRules& rules,
                Join& join);

}  // namespace assay
