// Judgments and runs from text in columns.
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

// What joining a run with judgments gives.
struct Join {
  std::vector<Hits> parts;         // in any order; each query stands in one of them
  std::vector<char> answered;      // per judged query: whether the run has it
  std::set<std::string> unjudged;  // the queries of the run that have no judgments
  std::string tag;                 // of the last line
};

// Called now and then by long work; throws Stopped to end it.
using Interrupt = std::function<void()>;

// Fills the judgments, and gives their grades in the same order.
Rows<double> read_judgments(Source& source, const Layout& layout, const Interrupt& interrupt,
                                   Judgments& judgments);

// A run whose queries stand together, in any order: memory is that of the longest ranking. Throws Interleaved if a query
// goes on after another one.
void join_stream(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                 const Interrupt& interrupt, Join& join);

// A run in any order: the rows of judged queries are gathered in memory.
void join_gathered(const Judgments& judgments, Source& source, const Layout& layout, const RankingRules& rules,
                   const Interrupt& interrupt, Join& join);

#if !defined(_WIN32)
// As join_stream, for a file that several threads read.
void join_file(const Judgments& judgments, int file, uint64_t size, const Layout& layout, const RankingRules& rules,
               unsigned threads, const Interrupt& interrupt, Join& join);
#endif

}  // namespace assay
