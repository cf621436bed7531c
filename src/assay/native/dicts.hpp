// Runs as dicts of dicts, {query: {document: score}}.
#pragma once

#include "judgments.hpp"
#include "python.hpp"
#include "ranking.hpp"
#include "text.hpp"

namespace assay {

// What a dict is joined with: the judgments, and what Python knows of them.
struct DictJoin {
  const Judgments& judgments;
  PyObject* docs;     // list of the judged documents, in the order of the judgments
  PyObject* place;    // dict: query -> place among the judged
  PyObject* numbers;  // tuple of the types whose values are taken for numbers
};

void join_dict(const DictJoin& with, PyObject* run, const RankingRules& rules, Join& join);

}  // namespace assay
