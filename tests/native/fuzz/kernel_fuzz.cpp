// A libFuzzer target for the part of the kernel that does not use Python. Each input is a layout, rules, and the texts
// of judgments and of a run. It looks for crashes, and for results that differ from those of reference.hpp or between
// the ways to call the kernel. See run.py.
//
// The input: eight bytes of choices (see `decode`), the judgments, kSeparator, the run.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "judgments.hpp"
#include "numbers.hpp"
#include "reference.hpp"
#include "rows.hpp"
#include "text.hpp"

namespace {

using assay::Join;
using assay::Judgments;
using assay::Layout;
using assay::RankingRules;
using reference::Joined;

constexpr size_t kChoices = 8;
constexpr const char* kSeparator = "\n--\n";
constexpr const char* kUsualJudgments = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n";  // for an input without a separator

// A lean build runs many times as often: what takes most of the time is left out for most inputs.
#ifdef ASSAY_LEAN
constexpr size_t kInFull = 16;
#else
constexpr size_t kInFull = 1;
#endif

struct Case {
  Layout judged, retrieved;
  RankingRules rules;
  unsigned step;             // the most bytes given at a time; 0: as many as requested
  unsigned threads;          // besides 1
  unsigned stop_at;          // the call of `interrupt` that ends the work; 0: none
  std::string instructions;  // the instruction set that finds blanks
  bool in_full;              // whether numbers, files and threads are looked at, too
  std::string qrels, run;
};

[[noreturn]] void fail(const Case& given, const char* what) {
  std::fprintf(stderr, "\nPROPERTY DOES NOT HOLD: %s\n", what);
  const RankingRules& rules = given.rules;
  std::fprintf(stderr, "width %u, value %d, rank %d, ties %d, duplicates %d, by rank %d, ties by rank %d, float32 %d, ",
               given.retrieved.width, given.retrieved.value, given.retrieved.rank, static_cast<int>(rules.ties),
               static_cast<int>(rules.duplicates), rules.by_rank_column, rules.ties_by_rank_column, rules.float32);
  std::fprintf(stderr, "drop self %d, step %u, threads %u, %s\n", rules.drop_self_match, given.step, given.threads,
               given.instructions.c_str());
  std::fprintf(stderr, "qrels:\n%s\nrun:\n%s\n", given.qrels.c_str(), given.run.c_str());
  std::abort();
}

void require(bool holds, const Case& given, const char* what) {
  if (!holds) fail(given, what);
}

// Choosing

Layout columns(int query, int doc, int value, int rank, int tag, uint32_t width, bool or_more = false) {
  Layout layout;
  layout.query = query, layout.doc = doc, layout.value = value, layout.rank = rank, layout.tag = tag;
  layout.width = width;
  layout.or_more = or_more;
  return layout;
}

const Layout kJudged[] = {columns(0, 2, 3, -1, -1, 4), columns(0, 1, 2, -1, -1, 3)};  // TREC, BEIR
const Layout kRetrieved[] = {
    columns(0, 2, 4, 3, 5, 6),        // TREC
    columns(0, 2, 4, 3, 5, 6, true),  // the same, but lines may be longer
    columns(0, 2, 4, 3, 5, 7),        // one column more
    columns(0, 1, 2, -1, -1, 3),      // BEIR
    columns(0, 1, -1, 2, -1, 3),      // MS MARCO: a rank, no score
    columns(0, 2, 4, 3, 5, 31),       // wider than any file
    columns(1, 0, 2, -1, 3, 4),       // the query is not first
    columns(0, 3, 2, 1, -1, 4),       // the document is last
};

Layout dialect(Layout layout, uint8_t bits) {
  layout.comments = bits & 1;
  layout.blank_lines = bits & 2;
  layout.stray_returns = bits & 4;
  layout.keep_mark = bits & 8;
  layout.header = bits & 32;
  layout.tabs_only = bits & 64 && !layout.stray_returns;
  layout.comments &= !layout.tabs_only;  // as the Python callers do: tables have none
  return layout;
}

Case decode(const uint8_t* data, size_t size) {
  uint8_t choice[kChoices] = {0};
  std::memcpy(choice, data, std::min(size, kChoices));
  Case given;
  given.judged = dialect(kJudged[choice[0] % 2], choice[1]);
  given.judged.whole_values = choice[1] & 16;
  given.retrieved = dialect(kRetrieved[choice[2] % 8], choice[3]);
  given.rules.ties = static_cast<assay::Ties>(choice[4] % 3);
  given.rules.duplicates = static_cast<assay::Duplicates>(choice[4] / 4 % 3);
  given.rules.float32 = choice[4] & 32;
  given.rules.drop_self_match = choice[4] & 64;
  if (given.retrieved.rank >= 0) {  // callers use rules about ranks only with a rank column
    given.rules.by_rank_column = choice[5] & 1;
    given.rules.ties_by_rank_column = choice[5] & 2;
  }
  // As the Python callers do.
  if (given.rules.ties_by_rank_column) given.rules.ties = assay::Ties::as_they_came;
  if (given.retrieved.value >= 0 && !given.rules.need_ranks()) given.retrieved.rank = -1;
  const std::vector<std::string> at_hand = assay::instructions();
  given.instructions = at_hand[choice[5] / 4 % at_hand.size()];
  given.step = choice[6];
  given.threads = choice[7] % 5;
  given.stop_at = choice[7] / 16;
  given.in_full = size % kInFull == 0;
  const std::string text(reinterpret_cast<const char*>(data) + std::min(size, kChoices),
                         size - std::min(size, kChoices));
  const size_t end = text.find(kSeparator);
  given.qrels = end == std::string::npos ? kUsualJudgments : text.substr(0, end + 1);
  given.run = end == std::string::npos ? text : text.substr(end + std::strlen(kSeparator));
  return given;
}

// Calling the kernel

// Gives a text in pieces of odd sizes.
class Pieces : public assay::Source {
 public:
  Pieces(const std::string& text, unsigned step) : text_(text), step_(step) {}

  size_t read(char* into, size_t space) override {
    if (space == 0) std::abort();  // 0 bytes would mean the end
    size_t size = std::min(space, text_.size() - next_);
    if (step_) size = std::min<size_t>(size, 1 + (turn_++ * 7919 + next_) % step_);
    std::memcpy(into, text_.data() + next_, size);
    next_ += size;
    return size;
  }

 private:
  const std::string& text_;
  const unsigned step_;
  size_t next_ = 0;
  unsigned turn_ = 0;
};

enum class End { finished, not_plain, interleaved, stopped };

struct Answer {
  End end = End::finished;
  Joined joined;

  bool finished() const { return end == End::finished; }
  // The reason why it did not finish does not matter: the Python readers report what is wrong.
  bool operator==(const Answer& other) const { return finished() == other.finished() && joined == other.joined; }
};

// Puts the parts together as module.cpp does.
Joined in_order(const Judgments& judgments, const Join& join) {
  Joined joined;
  joined.retrieved.resize(judgments.queries());
  joined.answered.assign(join.answered.begin(), join.answered.end());
  joined.unjudged = join.unjudged;
  joined.tag = join.tag;
  for (const assay::Hits& part : join.parts) {
    auto hit = part.hits.begin();
    for (const assay::Hits::Query& query : part.queries) {
      joined.retrieved.at(query.place) = query.retrieved;
      for (uint32_t i = 0; i < query.hits; i++, hit++) {
        joined.hits.push_back({query.place, hit->rank, hit->tie_first, hit->tie_last, hit->judgment});
      }
    }
  }
  std::stable_sort(joined.hits.begin(), joined.hits.end(), [](auto& a, auto& b) { return a.query < b.query; });
  return joined;
}

template <class Ask>
Answer answer_of(const Judgments& judgments, Ask ask) {
  Join join;
  try {
    ask(join);
  } catch (const assay::NotPlain&) {
    return {End::not_plain, {}};
  } catch (const assay::Interleaved&) {
    return {End::interleaved, {}};
  } catch (const assay::Stopped&) {
    return {End::stopped, {}};
  }
  return {End::finished, in_order(judgments, join)};
}

// An interrupt that ends the work at its nth call.
assay::Interrupt stopping_at(unsigned call) {
  return [calls = 0u, call]() mutable {
    if (++calls == call) throw assay::Stopped();
  };
}

using Way = decltype(assay::join_stream);

Answer ask(Way way, const Judgments& judgments, const Case& given, unsigned step, unsigned stop_at = 0) {
  Pieces source(given.run, step);
  return answer_of(
      judgments, [&](Join& join) { way(judgments, source, given.retrieved, given.rules, stopping_at(stop_at), join); });
}

// An in-memory file with the text of the run.
int file_of(const std::string& text) {
  static const int file = memfd_create("run", 0);
  if (file < 0 || ftruncate(file, 0) != 0) std::abort();
  if (pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::abort();
  return file;
}

Answer ask_file(const Judgments& judgments, const Case& given, unsigned threads, unsigned stop_at = 0) {
  const int file = file_of(given.run);
  return answer_of(judgments, [&](Join& join) {
    assay::join_file(judgments, file, given.run.size(), given.retrieved, given.rules, threads, stopping_at(stop_at),
                     join);
  });
}

// Rows that have been read already.
struct TableRows {
  const std::vector<reference::Row>& rows;

  assay::Bytes doc(uint32_t row) const { return {rows[row].doc.data(), rows[row].doc.size()}; }
  double score(uint32_t row) const { return rows[row].score; }
  int64_t rank(uint32_t row) const { return rows[row].rank; }
};

Answer ask_table(const Judgments& judgments, const Case& given, const reference::Rows& run) {
  std::vector<uint32_t> places;
  for (const reference::Row& row : run.rows) {
    places.push_back(
        judgments.find({row.query.data(), row.query.size()}, places.empty() ? assay::kNone : places.back()));
  }
  TableRows rows{run.rows};
  return answer_of(judgments, [&](Join& join) { assay::join_rows(judgments, places, rows, given.rules, join); });
}

// Properties

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class Read, class Expected>
void check_value(const Case& given, assay::Bytes token, Read read, Expected expected, const char* what) {
  double value;
  try {
    value = static_cast<double>(read(token));
  } catch (const assay::NotPlain&) {
    return;
  }
  try {
    const double right = static_cast<double>(expected(std::string(token.data, token.size)));
    require(same_bits(right, value), given, what);
  } catch (const reference::Refused&) {
    fail(given, what);
  }
}

// Reads all tokens as numbers: the kernel accepts only what the C library reads, with the same bits.
void check_numbers(const Case& given, const std::string& text) {
  constexpr size_t kAround = 8;  // bytes around a token that may be read; the sanitizer catches any more
  const size_t size = kAround + text.size() + kAround;
  const std::unique_ptr<char[]> memory(new char[size]);
  std::memset(memory.get(), '7', size);
  std::memcpy(memory.get() + kAround, text.data(), text.size());
  const char* const start = memory.get() + kAround;
  const auto blank = [&](size_t i) { return i == text.size() || std::isspace(static_cast<unsigned char>(start[i])); };
  std::set<std::string> seen;
  int words = 0;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    for (end = begin; !blank(end);) end++;
    const assay::Bytes token{start + begin, end - begin};
    if (!seen.emplace(token.data, token.size).second) continue;
    const bool like_number = token.size && std::strchr("0123456789+-.", *token.data);
    if (!like_number && ++words > 3) continue;  // exceptions are slow
    check_value(given, token, assay::read_number, reference::number, "a number is what strtod reads");
    check_value(given, token, assay::read_decimal, reference::number, "a decimal is what strtod reads");
    check_value(given, token, assay::read_whole_grade, reference::whole_grade, "a whole grade is cut toward zero");
    check_value(given, token, assay::read_rank, reference::rank_number, "a rank is a whole number");
  }
}

// Checks lines and their columns, whatever the piece size.
void check_lines(const Case& given, const std::string& text, const Layout& layout) {
  std::vector<reference::Texts> expected, found;
  std::string tag;
  try {
    Pieces source(text, given.step);
    assay::Lines lines(source, layout, true, [] {});
    while (const assay::Line* line = lines.next()) {
      reference::Texts tokens;
      for (const int column : {layout.query, layout.doc, layout.value, layout.rank}) {
        const assay::Bytes token = column < 0 ? assay::Bytes{"", 0} : line->token(column);
        tokens.emplace_back(token.data, token.size);
      }
      found.push_back(tokens);
    }
    tag = lines.last_tag();
  } catch (const assay::NotPlain&) {
    return;
  }
  try {
    const std::vector<reference::Texts> rows = reference::data_lines(text, layout);
    const auto token = [](const reference::Texts& row, int column) {
      return column < 0 ? std::string() : row[static_cast<size_t>(column)];
    };
    for (const reference::Texts& row : rows) {
      expected.push_back(
          {token(row, layout.query), token(row, layout.doc), token(row, layout.value), token(row, layout.rank)});
    }
    require(rows.empty() || token(rows.back(), layout.tag) == tag, given, "the tag is that of the last line");
  } catch (const reference::Refused&) {
    fail(given, "lines that nobody should accept are accepted");
  }
  require(expected == found, given, "lines are split where blanks are");
}

// Checks how ids are compared and hashed.
void check_ids(const Case& given) {
  const reference::Texts tokens = reference::tokens_of(given.run);
  for (size_t i = 1; i < tokens.size(); i++) {
    const std::string a = tokens[i - 1], b = tokens[i];  // copies, so that the sanitizer knows where they end
    const assay::Bytes left{a.data(), a.size()}, right{b.data(), b.size()};
    require((a == b) == assay::equal(left, right), given, "equal ids are equal");
    require((a < b) == (assay::compare(left, right) < 0), given, "ids are in byte order");
    require(a != b || assay::hash(left) == assay::hash(right), given, "equal ids have equal hashes");
  }
}

// The judgments, or nothing if the kernel refuses them.
std::unique_ptr<Judgments> read_judgments(const Case& given, std::vector<reference::Judgment>& expected) {
  bool refused = false;
  try {
    expected = reference::judgments(given.qrels, given.judged);
  } catch (const reference::Refused&) {
    refused = true;
  }
  auto judgments = std::make_unique<Judgments>();
  assay::Rows<double> grades;
  try {
    Pieces source(given.qrels, given.step);
    grades = assay::read_judgments(source, given.judged, stopping_at(0), *judgments);
  } catch (const assay::NotPlain&) {
    const bool plain = !refused && reference::plain_text(given.qrels);
    const auto rows = plain ? reference::data_lines(given.qrels, given.judged) : std::vector<reference::Texts>();
    const bool plain_values = std::all_of(rows.begin(), rows.end(), [&](const reference::Texts& row) {
      return reference::plain_number(row[static_cast<size_t>(given.judged.value)]);
    });
    require(!plain || !plain_values, given, "plain judgments are read");
    return nullptr;
  }
  require(!refused, given, "judgments that nobody should accept are accepted");
  require(expected.size() == judgments->size() && expected.size() == grades.size(), given, "all judgments are there");
  const auto text = [](assay::Bytes id) { return std::string(id.data, id.size); };
  for (uint32_t place = 0; place < judgments->queries(); place++) {
    for (uint32_t i = judgments->starts()[place]; i < judgments->starts()[place + 1]; i++) {
      require(expected[i].query == text(judgments->query(place)), given, "judgments are sorted by query");
      require(expected[i].doc == text(judgments->doc(i)), given, "judgments stay as they came within a query");
      require(same_bits(expected[i].grade, grades[i]), given, "grades go with their judgments");
    }
  }
  return judgments;
}

// What the kernel should return.
struct Expected {
  bool refused = false;
  bool judged_together = true;  // the rows of each judged query stand together
  bool no_excuse = false;       // plain enough for the kernel
  reference::Rows run;
  Joined joined;
};

Expected expected_of(const Case& given, const std::vector<reference::Judgment>& judgments) {
  Expected expected;
  try {
    const reference::Rows& run = expected.run = reference::read_run(given.run, given.retrieved);
    std::set<std::string> judged;
    for (const auto& judgment : judgments) judged.insert(judgment.query);
    expected.judged_together =
        reference::contiguous(run.rows, [&](const std::string& query) { return judged.count(query); });
    expected.joined = reference::join(judgments, run, given.retrieved, given.rules);
    expected.no_excuse = reference::plain_text(given.run);
    for (const reference::Texts& row : reference::data_lines(given.run, given.retrieved)) {
      for (const int column : {given.retrieved.value, given.retrieved.rank}) {
        if (column >= 0) expected.no_excuse &= reference::plain_number(row[static_cast<size_t>(column)]);
      }
    }
  } catch (const reference::Refused&) {
    expected.refused = true;
  }
  return expected;
}

void check_answer(const Case& given, const Expected& expected, const Answer& answer, const char* what) {
  if (!answer.finished()) return;
  require(!expected.refused, given, "a run that nobody should accept is accepted");
  require(expected.joined == answer.joined, given, what);
}

void check_run(const Case& given, const Judgments& judgments, const std::vector<reference::Judgment>& judged) {
  const Expected expected = expected_of(given, judged);
  const bool from_ranks = given.retrieved.value < 0;

  const Answer stream = ask(assay::join_stream, judgments, given, given.step);
  const Answer gathered = ask(assay::join_gathered, judgments, given, given.step);
  check_answer(given, expected, stream, "a stream gives what the reference gives");
  check_answer(given, expected, gathered, "gathered rows give what the reference gives");
  require(!stream.finished() || from_ranks || gathered.finished(), given, "what can be streamed can be gathered");
  require(!stream.finished() || expected.judged_together, given, "interleaved queries are noticed");
  require(stream.end != End::interleaved || expected.refused || !expected.judged_together, given,
          "only interleaved queries are called so");
  if (expected.no_excuse && !expected.refused && !from_ranks) {
    require(gathered.finished(), given, "a plain run is gathered");
    require(stream.finished() || !expected.judged_together, given, "a plain run is streamed");
  }

  if (!expected.refused) {
    Answer table = ask_table(judgments, given, expected.run);
    table.joined.unjudged = expected.joined.unjudged;  // tables have neither of the two
    table.joined.tag = expected.joined.tag;
    require(table.finished() && expected.joined == table.joined, given, "a table gives what the reference gives");
  }

  require(stream == ask(assay::join_stream, judgments, given, 0), given, "pieces do not matter to a stream");
  require(gathered == ask(assay::join_gathered, judgments, given, 0), given, "pieces do not matter to gathered rows");
  if (!given.in_full) return;
  require(stream == ask_file(judgments, given, 1), given, "a file is like a stream");
  if (given.threads > 1) {
    const Answer threads = ask_file(judgments, given, given.threads);
    check_answer(given, expected, threads, "threads give what the reference gives");
    require(stream == threads, given, "the number of threads does not matter");
  }
  if (given.stop_at) {
    const Answer stopped = ask(assay::join_gathered, judgments, given, given.step, given.stop_at);
    require(stopped.end == End::stopped || stopped == gathered, given, "work is stopped or done");
    const Answer stopped_file = ask_file(judgments, given, given.threads, given.stop_at);
    require(!stopped_file.finished() || stopped_file == stream, given, "threads are stopped or done");
  }
}

// The first documents of each query

struct Headed {
  End end = End::finished;
  reference::Heads heads;
  std::vector<uint32_t> places;  // of the judgments in them

  bool finished() const { return end == End::finished; }
  bool operator==(const Headed& other) const {
    return finished() == other.finished() && heads == other.heads && places == other.places;
  }
};

template <class Ask>
Headed headed_of(const Judgments& judgments, Ask ask) {
  assay::Heads found;
  try {
    ask(found);
  } catch (const assay::NotPlain&) {
    return {End::not_plain, {}, {}};
  } catch (const assay::Interleaved&) {
    return {End::interleaved, {}, {}};
  } catch (const assay::Stopped&) {
    return {End::stopped, {}, {}};
  }
  Headed headed;
  const Judgments& documents = found.documents;
  for (uint32_t i = 0; i < documents.queries(); i++) {
    headed.heads.queries.emplace_back(documents.query(i).data, documents.query(i).size);
  }
  for (size_t i = 0; i < documents.size(); i++)
    headed.heads.docs.emplace_back(documents.doc(i).data, documents.doc(i).size);
  headed.heads.start = documents.starts();
  headed.heads.retrieved = found.retrieved;
  headed.heads.scores.assign(found.scores.begin(), found.scores.end());
  headed.places = assay::places_in(judgments, documents);
  return headed;
}

Headed ask_heads(decltype(assay::head_stream) way, const Judgments& judgments, const Case& given, uint32_t depth,
                 unsigned step, unsigned stop_at = 0) {
  Pieces source(given.run, step);
  return headed_of(judgments, [&](assay::Heads& found) {
    way(source, given.retrieved, given.rules, depth, stopping_at(stop_at), found);
  });
}

Headed ask_heads_of_file(const Judgments& judgments, const Case& given, uint32_t depth, unsigned threads) {
  const int file = file_of(given.run);
  return headed_of(judgments, [&](assay::Heads& found) {
    assay::head_file(file, given.run.size(), given.retrieved, given.rules, depth, threads, stopping_at(0), found);
  });
}

void check_heads(const Case& given, const Judgments& judgments, const std::vector<reference::Judgment>& judged) {
  const uint32_t depth = 1 + given.run.size() % 5;
  const bool from_ranks = given.retrieved.value < 0;
  bool refused = false, together = true;
  Headed expected;
  try {
    const reference::Rows run = reference::read_run(given.run, given.retrieved);
    together = reference::contiguous(run.rows, [](const std::string&) { return true; });
    expected.heads = reference::heads(run, given.retrieved, given.rules, depth);
    expected.places = reference::places(judged, expected.heads);
  } catch (const reference::Refused&) {
    refused = true;
  }
  const Headed stream = ask_heads(assay::head_stream, judgments, given, depth, given.step);
  const Headed gathered = ask_heads(assay::head_gathered, judgments, given, depth, given.step);
  for (const Headed& found : {stream, gathered}) {
    require(!found.finished() || !refused, given, "heads of a run that nobody should accept");
    require(!found.finished() || expected == found, given, "heads are those of the reference");
  }
  require(!stream.finished() || from_ranks || gathered.finished(), given, "what can be streamed can be gathered");
  require(!stream.finished() || together, given, "interleaved queries are noticed");
  require(stream.end != End::interleaved || refused || !together, given, "only interleaved queries are called so");
  require(stream == ask_heads(assay::head_stream, judgments, given, depth, 0), given, "pieces do not matter to heads");
  if (!given.in_full) return;
  require(stream == ask_heads_of_file(judgments, given, depth, 1), given, "heads of a file are those of a stream");
  require(stream == ask_heads_of_file(judgments, given, depth, given.threads), given, "threads do not matter to heads");
  if (given.stop_at) {
    const Headed stopped = ask_heads(assay::head_gathered, judgments, given, depth, given.step, given.stop_at);
    require(stopped.end == End::stopped || stopped == gathered, given, "work on heads is stopped or done");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Case given = decode(data, size);
  assay::use_instructions(given.instructions);
  if (given.in_full) check_numbers(given, given.run);
  check_lines(given, given.qrels, given.judged);
  check_lines(given, given.run, given.retrieved);
  check_ids(given);
  std::vector<reference::Judgment> judged;
  if (const auto judgments = read_judgments(given, judged)) {
    check_run(given, *judgments, judged);
    check_heads(given, *judgments, judged);
  }
  return 0;
}
