#include "text.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

#include "joiner.hpp"
#include "numbers.hpp"

namespace assay {

Rows<double> read_judgments(Source& source, const Layout& layout, const Interrupt& interrupt, Judgments& judgments) {
  Rows<double> grades;
  Lines lines(source, layout, true, interrupt);
  while (const Line* line = lines.next()) {
    const Bytes value = line->token(layout.value);
    grades.push(layout.whole_values ? read_whole_grade(value) : read_number(value));
    judgments.open_query(line->token(layout.query));
    judgments.add(line->token(layout.doc));
  }
  if (grades.empty()) throw NotPlain();
  rearrange(grades, judgments.finish());
  return grades;
}

namespace {

// The numbers of a data line that a ranking needs.
struct Row {
  double score;
  int64_t rank;
};

// Without a score column, a run is ordered by its rank column.
ASSAY_INLINE Row read_row(const Line& line, const Layout& layout) {
  Row row{0, 0};
  if (layout.rank >= 0) {
    row.rank = read_rank(line.token(layout.rank));
    if (layout.tabs_only && row.rank >= kExact) throw NotPlain();  // the Python readers read ranks of tables as doubles
  }
  row.score = layout.value >= 0 ? read_number(line.token(layout.value)) : -static_cast<double>(row.rank);
  return row;
}

// What all threads of one scan share.
struct Scan {
  const Layout& layout;
  const RankingRules& rules;
  std::atomic<bool> stop{false};

  Scan(const Layout& layout, const RankingRules& rules) : layout(layout), rules(rules) {}

  // If scores are made from ranks, every rank is checked, including those of documents that do not count.
  bool from_ranks() const { return layout.value < 0; }

  RankingRules strict() const {
    RankingRules strict = rules;
    if (!from_ranks()) return strict;
    if (rules.drop_self_match) throw NotPlain();
    strict.duplicates = Duplicates::refuse;
    return strict;
  }
};

// A part of a run that one thread scans. The taker says what becomes of each query: begin(query, joiner) begins it, and
// returns false if its documents are not needed; end(joiner) ends it.
template <class Taker>
struct Part {
  Taker taker;
  std::string tag;
  bool any = false;
  std::exception_ptr failure;

  explicit Part(Taker taker) : taker(std::move(taker)) {}
};

// Scans the queries of one part, in the order of the file.
template <class Taker>
class PartScanner {
 public:
  PartScanner(Scan& scan, Part<Taker>& part) : scan_(scan), part_(part), joiner_(scan.strict()) {}

  void scan(Source& source, bool at_start, const Interrupt& interrupt) {
    Lines lines(source, scan_.layout, at_start, [&] {
      if (scan_.stop.load(std::memory_order_relaxed)) throw Stopped();
      interrupt();
      joiner_.keep_ids();
    });
    const Layout layout = scan_.layout;
    Bytes docs[LineBatch::kMost];
    uint64_t hashes[LineBatch::kMost];
    double scores[LineBatch::kMost];
    int64_t ranks[LineBatch::kMost];
    for (LineBatch batch; (batch = lines.next_batch()).count;) {
      for (uint32_t i = 0; i < batch.count; i++) {
        const Row row = read_row(batch[i], layout);
        scores[i] = row.score;
        ranks[i] = row.rank;
      }
      for (uint32_t i = 0; i < batch.count; i++) {
        docs[i] = batch[i].token(layout.doc);
        hashes[i] = hash(docs[i]);
      }
      const Documents documents{docs, hashes, scores, ranks};
      for (uint32_t i = 0, next; i < batch.count; i = next) {
        const Bytes query = batch[i].token(layout.query);
        for (next = i + 1; next < batch.count && equal(batch[next].token(layout.query), query);) next++;
        if (!part_.any || !equal(query, {query_.data(), query_.size()})) change_query(query);
        if (joining_) joiner_.add_all(documents + i, next - i);
      }
    }
    end_query();
    part_.tag = lines.last_tag();
  }

 private:
  void change_query(Bytes query) {
    end_query();
    part_.any = true;
    query_.assign(query.data, query.size);
    joining_ = part_.taker.begin({query_.data(), query_.size()}, joiner_);
  }

  void end_query() {
    if (!joining_) return;
    part_.taker.end(joiner_);
    joining_ = false;
    if (scan_.from_ranks() && !joiner_.ranks_from_one()) throw NotPlain();
  }

  Scan& scan_;
  Part<Taker>& part_;
  Joiner joiner_;
  std::string query_;
  bool joining_ = false;
};

template <class Taker>
void scan_part(Scan& scan, Part<Taker>& part, Source& source, bool at_start, const Interrupt& interrupt) {
  try {
    PartScanner<Taker>(scan, part).scan(source, at_start, interrupt);
  } catch (...) {
    part.failure = std::current_exception();
    scan.stop = true;
  }
}

// Rethrows a failure, and Stopped only if there is no other: most often it means that another thread has failed. A run
// without any line is not plain.
template <class Taker>
void check_parts(const std::vector<Part<Taker>>& parts) {
  std::exception_ptr stopped;
  bool any = false;
  for (const Part<Taker>& part : parts) {
    any |= part.any;
    if (!part.failure) continue;
    try {
      std::rethrow_exception(part.failure);
    } catch (const Stopped&) {
      stopped = part.failure;
    }
  }
  if (stopped) std::rethrow_exception(stopped);
  if (!any) throw NotPlain();
}

// Joins queries with their judgments.
class JoinTaker {
 public:
  using Answered = std::vector<std::atomic<char>>;

  JoinTaker(const Judgments& judgments, Answered& answered, const Scan& scan)
      : judgments_(&judgments), answered_(&answered), from_ranks_(scan.from_ranks()) {}

  bool begin(Bytes query, Joiner& joiner) {
    const uint32_t place = judgments_->find(query, place_);
    judged_ = place != kNone;
    if (judged_) {
      place_ = place;
      if ((*answered_)[place].exchange(1, std::memory_order_relaxed)) throw Interleaved();
      joiner.begin(query, judgments_->documents(place));
      return true;
    }
    const bool is_new = unjudged.emplace(query.data, query.size).second;
    if (!from_ranks_) return false;
    if (!is_new) throw NotPlain();
    joiner.begin(query, {});
    return true;
  }

  void end(Joiner& joiner) {
    joiner.end(place_, judged_ ? hits : unused_);
    if (!judged_) unused_ = {};
  }

  Hits hits;
  std::set<std::string> unjudged;

 private:
  const Judgments* judgments_;
  Answered* answered_;
  bool from_ranks_;
  uint32_t place_ = kNone;
  bool judged_ = false;
  Hits unused_;
};

void collect(const Scan& scan, const JoinTaker::Answered& answered, std::vector<Part<JoinTaker>>& parts, Join& join) {
  check_parts(parts);
  for (Part<JoinTaker>& part : parts) {
    if (scan.from_ranks()) {  // a query in two parts had its ranks checked separately
      for (const std::string& query : part.taker.unjudged) {
        if (join.unjudged.count(query)) throw NotPlain();
      }
    }
    join.unjudged.merge(part.taker.unjudged);
    if (part.any) join.tag = std::move(part.tag);
    join.parts.push_back(std::move(part.taker.hits));
  }
  join.answered.assign(answered.begin(), answered.end());
}

// Keeps the first documents of each query.
class HeadTaker {
 public:
  explicit HeadTaker(uint32_t depth) : depth_(depth) {}

  bool begin(Bytes query, Joiner& joiner) {
    const size_t before = queries_.size();
    if (queries_.insert(query) < before) throw Interleaved();
    queries_.relocate_last(arena_.copy(query));
    joiner.begin(query, {});
    return true;
  }

  void end(Joiner& joiner) {
    const size_t before = docs_.size();
    const uint32_t retrieved = joiner.end_with_first(depth_, [this](Bytes id, double score) {
      docs_.push(arena_.copy(id));
      scores_.push(score);
    });
    counts_.push_back({retrieved, static_cast<uint32_t>(docs_.size() - before)});
  }

  // Adds the queries to those of other parts.
  void move_to(Heads& heads) {
    const Bytes* doc = docs_.begin();
    for (uint32_t i = 0; i < counts_.size(); i++) {
      const size_t before = heads.documents.queries();
      heads.documents.open_query(queries_[i]);
      if (heads.documents.queries() == before) throw Interleaved();
      for (const Bytes* end = doc + counts_[i].kept; doc < end; doc++) heads.documents.add(*doc);
      heads.retrieved.push_back(counts_[i].retrieved);
    }
    heads.scores.append(scores_.begin(), scores_.size());
    *this = HeadTaker(depth_);
  }

 private:
  struct Count {
    uint32_t retrieved, kept;
  };

  uint32_t depth_;
  Arena arena_;
  IdTable queries_;
  std::vector<Count> counts_;  // per query
  Rows<Bytes> docs_;
  Rows<double> scores_;
};

// Puts the queries in byte order.
void arrange(Heads& heads) {
  if (heads.scores.size() >= kNone - 1) throw NotPlain();
  const std::vector<uint32_t> moved = heads.documents.finish_distinct();
  if (!moved.empty()) rearrange(heads.scores, moved);
  std::vector<uint32_t> retrieved;
  for (const uint32_t number : heads.documents.numbers()) retrieved.push_back(heads.retrieved[number]);
  heads.retrieved = std::move(retrieved);
}

void collect(std::vector<Part<HeadTaker>>& parts, Heads& heads) {
  check_parts(parts);
  for (Part<HeadTaker>& part : parts) part.taker.move_to(heads);
  arrange(heads);
}

// The rows of a run by query, whatever order they come in.
class GatheredRows {
 public:
  explicit GatheredRows(size_t queries) : first_(queries, kNone), last_(queries, kNone) {}

  void add(uint32_t query, Bytes doc, Row row) {
    if (rows_.size() >= kNone - 1) throw NotPlain();
    const auto number = static_cast<uint32_t>(rows_.size());
    rows_.push_back({arena_.copy(doc), row, kNone});
    if (query >= first_.size()) {
      first_.resize(query + 1, kNone);
      last_.resize(query + 1, kNone);
    }
    (last_[query] == kNone ? first_[query] : rows_[last_[query]].next) = number;
    last_[query] = number;
  }

  bool any_of(uint32_t query) const { return first_[query] != kNone; }

  void add_to(Joiner& joiner, uint32_t query) const {
    for (uint32_t i = first_[query]; i != kNone; i = rows_[i].next) {
      joiner.add(rows_[i].doc, rows_[i].row.score, rows_[i].row.rank);
    }
  }

 private:
  struct Gathered {
    Bytes doc;
    Row row;
    uint32_t next;  // the next row of the same query
  };

  Arena arena_;
  std::vector<Gathered> rows_;
  std::vector<uint32_t> first_, last_;  // per query
};

}  // namespace

void read_columns(Source& source, const Layout& layout, Columns& columns) {
  const auto count = [&columns](Bytes id, Rows<Bytes>& ids, Rows<int64_t>& rows) {
    if (ids.empty() || !equal(ids[ids.size() - 1], id)) {
      ids.push(columns.arena.copy(id));
      rows.push(0);
    }
    rows[rows.size() - 1]++;
  };
  Lines lines(source, layout, false, [] {});
  while (const Line* line = lines.next()) {
    const Row row = read_row(*line, layout);
    columns.scores.push(row.score);
    columns.ranks.push(row.rank);
    columns.docs.push(columns.arena.copy(line->token(layout.doc)));
    count(line->token(layout.query), columns.queries, columns.query_rows);
    if (layout.tag >= 0) count(line->token(layout.tag), columns.tags, columns.tag_rows);
  }
}

void join_stream(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                 const Interrupt& interrupt, Join& join) {
  Scan scan(layout, rules);
  JoinTaker::Answered answered(judgments.queries());
  std::vector<Part<JoinTaker>> parts;
  parts.emplace_back(JoinTaker(judgments, answered, scan));
  scan_part(scan, parts[0], source, true, interrupt);
  collect(scan, answered, parts, join);
}

void head_stream(Source& source, const Layout& layout, const RankingRules& rules, uint32_t depth,
                 const Interrupt& interrupt, Heads& heads) {
  Scan scan(layout, rules);
  std::vector<Part<HeadTaker>> parts;
  parts.emplace_back(HeadTaker(depth));
  scan_part(scan, parts[0], source, true, interrupt);
  collect(parts, heads);
}

#if !defined(_WIN32)
namespace {

// The lines of part of a file, unparsed.
class RawLines {
 public:
  RawLines(int file, uint64_t begin, uint64_t end) : part_(file, begin, end), piece_(1 << 16) {}

  // The next line with its line feed; false at the end, and for a last line without a line feed.
  bool next(std::string& line) {
    line.clear();
    while (line.empty() || line.back() != '\n') {
      if (line.size() > kLongestLine) throw NotPlain();
      if (used_ == have_) {
        used_ = 0;
        have_ = part_.read(piece_.data(), piece_.size());
        if (!have_) return false;
      }
      const void* feed = std::memchr(piece_.data() + used_, '\n', have_ - used_);
      const size_t end = feed ? static_cast<size_t>(static_cast<const char*>(feed) - piece_.data()) + 1 : have_;
      line.append(piece_.data() + used_, end - used_);
      used_ = end;
    }
    return true;
  }

 private:
  FilePart part_;
  std::vector<char> piece_;
  size_t used_ = 0, have_ = 0;
};

// The start of the first line after `from` whose query differs from that of the line before; `size` if there is none.
uint64_t query_boundary(int file, uint64_t size, uint64_t from, bool comments) {
  constexpr const char* kBlanks = " \t\r\v\f\n";
  RawLines lines(file, from, size);
  std::string line, previous;
  if (!lines.next(line)) return size;  // `from` is most likely inside a line
  for (uint64_t start = from + line.size(); lines.next(line); start += line.size()) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string::npos || (comments && line[0] == '#')) continue;
    const std::string query = line.substr(begin, line.find_first_of(kBlanks, begin) - begin);
    if (!previous.empty() && query != previous) return start;
    previous = query;
  }
  return size;
}

// Where the parts of a file begin and end that are worth a thread each: always where a query begins.
std::vector<uint64_t> part_bounds(int file, uint64_t size, const Layout& layout, unsigned threads) {
  constexpr uint64_t kLeast = 1 << 20;  // bytes that are worth a thread
  const uint64_t parts_worth = std::max<uint64_t>(1, std::min<uint64_t>(threads, size / kLeast));
  std::vector<uint64_t> bounds{0};
  if (layout.query == 0) {  // query_boundary() looks only at the first column
    for (uint64_t i = 1; i < parts_worth; i++) {
      bounds.push_back(std::max(bounds.back(), query_boundary(file, size, size / parts_worth * i, layout.comments)));
    }
  }
  bounds.push_back(size);
  return bounds;
}

// Scans the parts of a file, one thread for each; `make` makes their takers.
template <class Taker, class Make>
std::vector<Part<Taker>> scan_file(Scan& scan, int file, uint64_t size, unsigned threads, const Interrupt& interrupt,
                                   Make make) {
  const std::vector<uint64_t> bounds = part_bounds(file, size, scan.layout, threads);
  std::vector<Part<Taker>> parts;
  std::vector<std::unique_ptr<FilePart>> sources;
  for (size_t i = 0; i + 1 < bounds.size(); i++) {
    parts.emplace_back(make());
    sources.push_back(std::make_unique<FilePart>(file, bounds[i], bounds[i + 1]));
  }
  std::vector<std::thread> others;
  others.reserve(parts.size());  // so that only starting a thread can fail below
  for (size_t i = 1; i < parts.size(); i++) {
    const auto act = [&, i] { scan_part(scan, parts[i], *sources[i], false, [] {}); };
    try {
      others.emplace_back(act);
    } catch (const std::system_error&) {  // no more threads available
      act();
    }
  }
  scan_part(scan, parts[0], *sources[0], true, interrupt);
  for (std::thread& thread : others) thread.join();
  return parts;
}

}  // namespace

void join_file(const Judgments& judgments, int file, uint64_t size, const Layout& layout, const RankingRules& rules,
               unsigned threads, const Interrupt& interrupt, Join& join) {
  Scan scan(layout, rules);
  JoinTaker::Answered answered(judgments.queries());
  auto parts =
      scan_file<JoinTaker>(scan, file, size, threads, interrupt, [&] { return JoinTaker(judgments, answered, scan); });
  collect(scan, answered, parts, join);
}

void head_file(int file, uint64_t size, const Layout& layout, const RankingRules& rules, uint32_t depth,
               unsigned threads, const Interrupt& interrupt, Heads& heads) {
  Scan scan(layout, rules);
  auto parts = scan_file<HeadTaker>(scan, file, size, threads, interrupt, [depth] { return HeadTaker(depth); });
  collect(parts, heads);
}
#endif

void join_gathered(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                   const Interrupt& interrupt, Join& join) {
  if (layout.value < 0) throw NotPlain();  // ranks of unjudged queries must be checked too, but are not gathered
  const uint32_t queries = static_cast<uint32_t>(judgments.queries());
  GatheredRows rows(queries);
  uint32_t place = kNone;
  bool any = false;
  Lines lines(source, layout, true, interrupt);
  while (const Line* line = lines.next()) {
    const Bytes query = line->token(layout.query);
    const Row row = read_row(*line, layout);
    any = true;
    const uint32_t found = judgments.find(query, place);
    if (found == kNone) {
      join.unjudged.emplace(query.data, query.size);
      continue;
    }
    place = found;
    rows.add(place, line->token(layout.doc), row);
  }
  if (!any) throw NotPlain();
  Joiner joiner(rules);
  join.parts.resize(1);
  join.answered.resize(queries);
  join.tag = lines.last_tag();
  for (uint32_t query = 0; query < queries; query++) {
    join.answered[query] = rows.any_of(query);
    if (!rows.any_of(query)) continue;
    joiner.begin(judgments.query(query), judgments.documents(query));
    rows.add_to(joiner, query);
    joiner.end(query, join.parts[0]);
  }
}

void head_gathered(Source& source, const Layout& layout, const RankingRules& rules, uint32_t depth,
                   const Interrupt& interrupt, Heads& heads) {
  if (layout.value < 0) throw NotPlain();  // as in join_gathered
  Arena arena;
  IdTable queries;
  GatheredRows rows(0);
  Lines lines(source, layout, true, interrupt);
  while (const Line* line = lines.next()) {
    const size_t before = queries.size();
    const Bytes query = line->token(layout.query);
    const uint32_t number = queries.insert(query);
    if (queries.size() > before) queries.relocate_last(arena.copy(query));
    rows.add(number, line->token(layout.doc), read_row(*line, layout));
  }
  if (!queries.size()) throw NotPlain();
  Joiner joiner(rules);
  HeadTaker taker(depth);
  for (uint32_t query = 0; query < queries.size(); query++) {
    taker.begin(queries[query], joiner);
    rows.add_to(joiner, query);
    taker.end(joiner);
  }
  taker.move_to(heads);
  arrange(heads);
}

}  // namespace assay
