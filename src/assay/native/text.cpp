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
struct Shared {
  const Judgments& judgments;
  const Layout& layout;
  const RankingRules& rules;
  std::vector<std::atomic<char>> answered;
  std::atomic<bool> stop{false};

  Shared(const Judgments& judgments, const Layout& layout, const RankingRules& rules)
      : judgments(judgments), layout(layout), rules(rules), answered(judgments.queries()) {}
};

// What one thread finds in its part of the run.
struct Part {
  Hits hits;
  std::set<std::string> unjudged;
  std::string tag;
  bool any = false;
  std::exception_ptr failure;
};

// Joins the queries of one part, in the order of the file.
class PartScanner {
 public:
  PartScanner(Shared& shared, Part& part)
      : shared_(shared), part_(part), joiner_(strict(shared)), from_ranks_(shared.layout.value < 0) {}

  void scan(Source& source, bool at_start, const Interrupt& interrupt) {
    Lines lines(source, shared_.layout, at_start, [&] {
      if (shared_.stop.load(std::memory_order_relaxed)) throw Stopped();
      interrupt();
      joiner_.keep_ids();
    });
    const Layout layout = shared_.layout;
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
  // If scores are made from ranks, every rank is checked, including those of documents that do not count.
  static RankingRules strict(const Shared& shared) {
    RankingRules rules = shared.rules;
    if (shared.layout.value >= 0) return rules;
    if (rules.drop_self_match) throw NotPlain();
    rules.duplicates = Duplicates::refuse;
    return rules;
  }

  void change_query(Bytes query) {
    end_query();
    part_.any = true;
    query_.assign(query.data, query.size);
    const Bytes kept{query_.data(), query_.size()};
    const uint32_t place = shared_.judgments.find(query, place_);
    joining_ = place != kNone;
    if (place != kNone) {
      place_ = place;
      if (shared_.answered[place].exchange(1, std::memory_order_relaxed)) throw Interleaved();
      joiner_.begin(kept, shared_.judgments.documents(place));
    } else {
      const bool is_new = part_.unjudged.insert(query_).second;
      joining_ = from_ranks_;  // its ranks still have to be checked
      if (from_ranks_ && !is_new) throw NotPlain();
      if (from_ranks_) joiner_.begin(kept, {});
    }
    judged_ = place != kNone;
  }

  void end_query() {
    if (!joining_) return;
    joiner_.end(place_, judged_ ? part_.hits : unused_);
    joining_ = false;
    if (from_ranks_ && !joiner_.ranks_from_one()) throw NotPlain();
    if (!judged_) unused_ = {};
  }

  Shared& shared_;
  Part& part_;
  Joiner joiner_;
  const bool from_ranks_;
  std::string query_;
  uint32_t place_ = kNone;
  bool joining_ = false, judged_ = false;
  Hits unused_;
};

void scan_part(Shared& shared, Part& part, Source& source, bool at_start, const Interrupt& interrupt) {
  try {
    PartScanner(shared, part).scan(source, at_start, interrupt);
  } catch (...) {
    part.failure = std::current_exception();
    shared.stop = true;
  }
}

// Rethrows a failure, and Stopped only if there is no other: most often it means that another thread has failed.
void rethrow_failure(const std::vector<Part>& parts) {
  std::exception_ptr stopped;
  for (const Part& part : parts) {
    if (!part.failure) continue;
    try {
      std::rethrow_exception(part.failure);
    } catch (const Stopped&) {
      stopped = part.failure;
    }
  }
  if (stopped) std::rethrow_exception(stopped);
}

void collect(Shared& shared, std::vector<Part>& parts, Join& join) {
  rethrow_failure(parts);
  bool any = false;
  for (Part& part : parts) {
    if (shared.layout.value < 0) {  // a query in two parts had its ranks checked separately
      for (const std::string& query : part.unjudged) {
        if (join.unjudged.count(query)) throw NotPlain();
      }
    }
    any |= part.any;
    join.unjudged.merge(part.unjudged);
    if (part.any) join.tag = std::move(part.tag);
    join.parts.push_back(std::move(part.hits));
  }
  if (!any) throw NotPlain();
  join.answered.assign(shared.answered.begin(), shared.answered.end());
}

}  // namespace

void join_stream(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                 const Interrupt& interrupt, Join& join) {
  Shared shared(judgments, layout, rules);
  std::vector<Part> parts(1);
  scan_part(shared, parts[0], source, true, interrupt);
  collect(shared, parts, join);
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

}  // namespace

void join_file(const Judgments& judgments, int file, uint64_t size, const Layout& layout, const RankingRules& rules,
               unsigned threads, const Interrupt& interrupt, Join& join) {
  constexpr uint64_t kLeast = 1 << 20;  // bytes that are worth a thread
  const uint64_t parts_worth = std::max<uint64_t>(1, std::min<uint64_t>(threads, size / kLeast));
  std::vector<uint64_t> bounds{0};
  if (layout.query == 0) {  // query_boundary() looks only at the first column
    for (uint64_t i = 1; i < parts_worth; i++) {
      bounds.push_back(std::max(bounds.back(), query_boundary(file, size, size / parts_worth * i, layout.comments)));
    }
  }
  bounds.push_back(size);
  Shared shared(judgments, layout, rules);
  std::vector<Part> parts(bounds.size() - 1);
  std::vector<std::unique_ptr<FilePart>> sources;
  for (size_t i = 0; i < parts.size(); i++) {
    sources.push_back(std::make_unique<FilePart>(file, bounds[i], bounds[i + 1]));
  }
  std::vector<std::thread> others;
  others.reserve(parts.size());  // so that only starting a thread can fail below
  for (size_t i = 1; i < parts.size(); i++) {
    const auto scan = [&, i] { scan_part(shared, parts[i], *sources[i], false, [] {}); };
    try {
      others.emplace_back(scan);
    } catch (const std::system_error&) {  // no more threads available
      scan();
    }
  }
  scan_part(shared, parts[0], *sources[0], true, interrupt);
  for (std::thread& thread : others) thread.join();
  collect(shared, parts, join);
}
#endif

void join_gathered(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                   const Interrupt& interrupt, Join& join) {
  struct Gathered {
    Bytes doc;
    Row row;
    uint32_t next;  // the next row of the same query
  };
  if (layout.value < 0) throw NotPlain();  // ranks of unjudged queries must be checked too, but are not gathered
  const uint32_t queries = static_cast<uint32_t>(judgments.queries());
  Arena arena;
  std::vector<Gathered> rows;
  std::vector<uint32_t> first(queries, kNone), last(queries, kNone);
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
    if (rows.size() >= kNone - 1) throw NotPlain();
    const auto number = static_cast<uint32_t>(rows.size());
    rows.push_back({arena.copy(line->token(layout.doc)), row, kNone});
    if (last[place] == kNone) {
      first[place] = number;
    } else {
      rows[last[place]].next = number;
    }
    last[place] = number;
  }
  if (!any) throw NotPlain();
  Joiner joiner(rules);
  join.parts.resize(1);
  join.answered.resize(queries);
  join.tag = lines.last_tag();
  for (uint32_t query = 0; query < queries; query++) {
    join.answered[query] = first[query] != kNone;
    if (first[query] == kNone) continue;
    joiner.begin(judgments.query(query), judgments.documents(query));
    for (uint32_t i = first[query]; i != kNone; i = rows[i].next) {
      joiner.add(rows[i].doc, rows[i].row.score, rows[i].row.rank);
    }
    joiner.end(query, join.parts[0]);
  }
}

}  // namespace assay
