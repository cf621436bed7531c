#include "rows.hpp"

#include <algorithm>

#include "numbers.hpp"

namespace assay {

namespace {

// The rows of an Arrow table.
struct ArrowRows {
  struct Batch {
    TextColumn query, doc;
    NumberColumn score;
    std::vector<NumberColumn> rank;  // one or none
  };
  std::vector<Batch> batches;
  std::vector<uint32_t> first;  // the first row of each batch, then the number of all rows
  size_t current = 0;

  const Batch& find(uint32_t& row) {
    if (row < first[current] || row >= first[current + 1]) {
      current = static_cast<size_t>(std::upper_bound(first.begin(), first.end(), row) - first.begin()) - 1;
    }
    row -= first[current];
    return batches[current];
  }
  Bytes query(uint32_t row) {
    const Batch& batch = find(row);
    return plain(batch.query.text(row));
  }
  Bytes doc(uint32_t row) {
    const Batch& batch = find(row);
    return plain(batch.doc.text(row));
  }
  double score(uint32_t row) {
    const Batch& batch = find(row);
    return batch.score.number(row);
  }
  int64_t rank(uint32_t row) {
    const Batch& batch = find(row);
    const int64_t rank = batch.rank.empty() ? 0 : batch.rank[0].whole_number(row);
    if (rank >= kExact || rank <= -kExact) throw NotPlain();
    return rank;
  }
  static Bytes plain(Bytes id) {
    if (!id.size) throw NotPlain();  // ids are never empty
    return id;
  }
};

}  // namespace

void join_arrow(const Judgments& judgments, ArrowArrayStream& stream, const Layout& layout, const RankingRules& rules,
                Join& join) {
  const ArrowTable table(stream);
  for (const int column : {layout.query, layout.doc, layout.value, layout.rank}) {
    if (column >= table.columns() || (column < 0 && (column != layout.rank || rules.need_ranks()))) throw NotPlain();
  }
  ArrowRows rows;
  uint64_t count = 0;
  rows.first.push_back(0);
  for (const ArrowArray& batch : table.batches()) {
    if (!batch.length) continue;
    const auto text = [&](int column) { return TextColumn(table.schema(column), *batch.children[column]); };
    const auto number = [&](int column) { return NumberColumn(table.schema(column), *batch.children[column]); };
    rows.batches.push_back({text(layout.query), text(layout.doc), number(layout.value), {}});
    if (layout.rank >= 0) rows.batches.back().rank.push_back(number(layout.rank));
    count += static_cast<uint64_t>(batch.length);
    if (count >= kNone) throw NotPlain();
    rows.first.push_back(static_cast<uint32_t>(count));
  }
  if (!count) throw NotPlain();
  std::vector<uint32_t> place_of_row(count);
  Bytes last;
  uint32_t place = kNone, previous = kNone;
  for (uint32_t row = 0; row < count; row++) {
    const Bytes query = rows.query(row);
    if (!last.data || !equal(last, query)) {
      last = query;
      place = judgments.find(query, previous);
      if (place == kNone) join.unjudged.emplace(query.data, query.size);
      if (place != kNone) previous = place;
    }
    place_of_row[row] = place;
    if (place == kNone) rows.doc(row), rows.score(row), rows.rank(row);  // check the values, as in all rows
  }
  join_rows(judgments, place_of_row, rows, rules, join);
}

}  // namespace assay
