// Reads judgments and joins runs from text in columns.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "judgments.hpp"
#include "lines.hpp"
#include "ranking.hpp"
#include "source.hpp"

namespace assay {

// The result of joining a run with judgments.
struct Join {
  std::vector<Hits> parts;         // in any order; each query is in one of them
  std::vector<char> answered;      // per judged query: whether the run has it
  std::set<std::string> unjudged;  // the queries of the run that have no judgments
  std::string tag;                 // of the last line
};

// The first documents of each query of a run, best first. Their ids are indexed like those of judgments.
struct Heads {
  Judgments documents;
  Rows<double> scores;              // of each document
  std::vector<uint32_t> retrieved;  // per query: how many documents the run has for it
};

// The rows of a run, column by column. Queries and tags are those of consecutive rows, with the number of rows.
struct Columns {
  Arena arena;
  Rows<Bytes> docs, queries, tags;
  Rows<int64_t> query_rows, tag_rows, ranks;  // ranks are 0 if the layout has no such column
  Rows<double> scores;
};

// Called now and then during long work; throws Stopped to end it.
using Interrupt = std::function<void()>;

// Fills the judgments and returns their grades in the same order.
Rows<double> read_judgments(Source& source, const Layout& layout, const Interrupt& interrupt, Judgments& judgments);

// Reads all rows of a run, whatever order they are in.
void read_columns(Source& source, const Layout& layout, Columns& columns);

// Joins a run in which the lines of each query stand together. Needs only the memory of the longest ranking. Throws
// Interleaved if a query continues after another one.
void join_stream(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                 const Interrupt& interrupt, Join& join);

// Joins a run whose lines are in any order: gathers the rows of judged queries in memory.
void join_gathered(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                   const Interrupt& interrupt, Join& join);

// The first `depth` documents of each query, for a run in which the lines of each query stand together. Throws
// Interleaved if a query continues after another one.
void head_stream(Source& source, const Layout& layout, const RankingRules& rules, uint32_t depth,
                 const Interrupt& interrupt, Heads& heads);

// The same for a run whose lines are in any order: gathers all rows in memory.
void head_gathered(Source& source, const Layout& layout, const RankingRules& rules, uint32_t depth,
                   const Interrupt& interrupt, Heads& heads);

#if !defined(_WIN32)
// Like join_stream, for a file that several threads read.
void join_file(const Judgments& judgments, int file, uint64_t size, const Layout& layout, const RankingRules& rules,
               unsigned threads, const Interrupt& interrupt, Join& join);

// Like head_stream, for a file that several threads read.
void head_file(int file, uint64_t size, const Layout& layout, const RankingRules& rules, uint32_t depth,
               unsigned threads, const Interrupt& interrupt, Heads& heads);
#endif

}  // namespace assay
