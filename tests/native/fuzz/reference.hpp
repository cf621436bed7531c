// What the kernel should find, computed in the simplest way: std::string, strtod, std::stable_sort. Slow, but easy to
// check. Shares only Layout and RankingRules with the kernel.
#pragma once

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lines.hpp"
#include "ranking.hpp"

namespace reference {

using assay::Duplicates;
using assay::Layout;
using assay::RankingRules;
using assay::Ties;
using Texts = std::vector<std::string>;

// The kernel must not accept this input.
struct Refused {};

// Lines

inline bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

inline Texts lines_of(const std::string& text) {
  Texts lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline Texts tokens_of(const std::string& line) {
  Texts tokens;
  bool inside = false;
  for (const char c : line) {
    const bool blank = std::isspace(static_cast<unsigned char>(c));  // always in the C locale here
    if (!blank && !inside) tokens.emplace_back();
    if (!blank) tokens.back() += c;
    inside = !blank;
  }
  return tokens;
}

// The tab-separated fields of a table. The Python readers handle quotes, other blanks and empty fields.
inline Texts fields_of(std::string line) {
  line.erase(line.find_last_not_of('\r') + 1);
  if (line.find_first_of(" \"\v\f") != std::string::npos) throw Refused();
  Texts fields;
  for (size_t begin = 0; !line.empty() && begin <= line.size();) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    if (begin == end) throw Refused();
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// Whether there is a carriage return that is not part of the line end.
inline bool has_bare_return(const std::string& line) {
  const size_t last = line.find_last_not_of('\r');
  return last != std::string::npos && line.find('\r') < last;
}

// The tokens of each data line.
inline std::vector<Texts> data_lines(std::string text, const Layout& layout) {
  constexpr const char* kMark = "\xef\xbb\xbf";
  std::vector<Texts> rows;
  if (!layout.keep_mark && starts_with(text, kMark)) text.erase(0, 3);
  if (text.find('\0') != std::string::npos) throw Refused();
  for (const std::string& line : lines_of(text)) {
    if (!layout.stray_returns && has_bare_return(line)) throw Refused();
    if (!layout.keep_mark && starts_with(line, kMark)) throw Refused();
    if (layout.comments && starts_with(line, "#")) continue;
    const Texts tokens = layout.tabs_only ? fields_of(line) : tokens_of(line);
    if (tokens.empty() && layout.blank_lines) continue;
    const bool fits = layout.or_more ? tokens.size() >= layout.width : tokens.size() == layout.width;
    if (!fits) throw Refused();
    rows.push_back(tokens);
  }
  if (layout.header && !rows.empty()) rows.erase(rows.begin());
  return rows;
}

// Numbers

inline double number(const std::string& token) {
  char* stop = nullptr;
  const double value = std::strtod(token.c_str(), &stop);
  const bool ordinary = !token.empty() && token.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (!ordinary || stop != token.c_str() + token.size() || !std::isfinite(value)) throw Refused();
  return value;
}

inline double whole_grade(const std::string& token) {
  if (token.find_first_of("eE") != std::string::npos) throw Refused();
  const double value = std::trunc(number(token));
  return value == 0 ? 0.0 : value;  // no negative zero
}

inline int64_t rank_number(const std::string& token) {
  if (token.empty() || token.find_first_not_of("0123456789") != std::string::npos) throw Refused();
  errno = 0;
  const int64_t value = std::strtoll(token.c_str(), nullptr, 10);
  if (errno == ERANGE) throw Refused();
  return value;
}

// Judgments

struct Judgment {
  std::string query, doc;
  double grade;
};

// By query in byte order, and within a query in input order.
inline std::vector<Judgment> judgments(const std::string& text, const Layout& layout) {
  std::vector<Judgment> found;
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Texts& row : data_lines(text, layout)) {
    const std::string &query = row[layout.query], &doc = row[layout.doc], &value = row[layout.value];
    found.push_back({query, doc, layout.whole_values ? whole_grade(value) : number(value)});
    if (!pairs.emplace(query, doc).second) throw Refused();  // judged twice
  }
  if (found.empty()) throw Refused();
  std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.query < b.query; });
  return found;
}

// Runs

struct Hit {
  uint32_t query, rank, tie_first, tie_last, judgment;

  bool operator==(const Hit& other) const {
    return query == other.query && rank == other.rank && tie_first == other.tie_first && tie_last == other.tie_last &&
           judgment == other.judgment;
  }
};

// The result of joining a run with judgments.
struct Joined {
  std::vector<Hit> hits;
  std::vector<uint32_t> retrieved;  // per judged query
  std::vector<bool> answered;
  std::set<std::string> unjudged;
  std::string tag;

  bool operator==(const Joined& other) const {
    return hits == other.hits && retrieved == other.retrieved && answered == other.answered &&
           unjudged == other.unjudged && tag == other.tag;
  }
};

struct Row {
  std::string query, doc;
  double score;
  int64_t rank;
};

// The content of a run, before it is ranked.
struct Rows {
  std::vector<Row> rows;
  std::string tag;
};

inline Rows read_run(const std::string& text, const Layout& layout) {
  Rows run;
  for (const Texts& tokens : data_lines(text, layout)) {
    Row row{tokens[layout.query], tokens[layout.doc], 0, 0};
    if (layout.rank >= 0) row.rank = rank_number(tokens[layout.rank]);
    row.score = layout.value >= 0 ? number(tokens[layout.value]) : -static_cast<double>(row.rank);
    run.rows.push_back(row);
    if (layout.tag >= 0) run.tag = tokens[layout.tag];
  }
  if (run.rows.empty()) throw Refused();
  return run;
}

// If scores are made from ranks, those of each query, judged or not, must start at 1 and not repeat.
inline void refuse_scores_as_ranks(const std::vector<Row>& rows) {
  std::map<std::string, std::set<double>> ranks;
  for (const Row& row : rows) {
    if (!ranks[row.query].insert(-row.score).second) throw Refused();
  }
  for (const auto& [query, found] : ranks) {
    if (*found.begin() != 1) throw Refused();
  }
}

// The rows of one query in rank order, before ties are broken by id.
inline void arrange(std::vector<Row>& rows, const RankingRules& rules) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.score != b.score) return a.score > b.score;
    return rules.ties_by_rank_column && a.rank < b.rank;
  });
}

inline std::vector<Row> without_duplicates(const std::vector<Row>& rows, const RankingRules& rules) {
  std::vector<Row> in_order = rows, kept;
  if (rules.duplicates == Duplicates::best) arrange(in_order, rules);  // the best of each comes first
  std::set<std::string> seen;
  std::set<std::pair<std::string, std::pair<double, int64_t>>> chosen;
  for (const Row& row : in_order) {
    const bool is_new = seen.insert(row.doc).second;
    if (!is_new && rules.duplicates == Duplicates::refuse) throw Refused();
    if (is_new) chosen.insert({row.doc, {row.score, row.rank}});
  }
  for (const Row& row : rows) {  // in input order; of equal rows of one document, the first counts
    if (chosen.erase({row.doc, {row.score, row.rank}})) kept.push_back(row);
  }
  return kept;
}

inline std::vector<Row> ranking(const std::vector<Row>& rows, const std::string& query, const RankingRules& rules) {
  std::vector<Row> kept;
  for (Row row : rows) {
    if (row.query != query || (rules.drop_self_match && row.doc == query)) continue;
    if (rules.by_rank_column) row.score = -static_cast<double>(row.rank);
    if (rules.float32) row.score = static_cast<float>(row.score);
    kept.push_back(row);
  }
  kept = without_duplicates(kept, rules);
  arrange(kept, rules);
  if (rules.ties == Ties::as_they_came) return kept;
  std::stable_sort(kept.begin(), kept.end(), [&](const Row& a, const Row& b) {
    if (a.score != b.score) return a.score > b.score;
    return rules.ties == Ties::by_id_up ? a.doc < b.doc : a.doc > b.doc;
  });
  return kept;
}

inline Joined join(const std::vector<Judgment>& judged, const Rows& run, const Layout& layout,
                   const RankingRules& rules) {
  if (layout.value < 0) refuse_scores_as_ranks(run.rows);
  std::map<std::string, std::map<std::string, uint32_t>> number;  // query, document -> number of the judgment
  for (uint32_t i = 0; i < judged.size(); i++) number[judged[i].query][judged[i].doc] = i;
  std::set<std::string> queries;
  for (const Row& row : run.rows) queries.insert(row.query);
  Joined joined;
  joined.tag = run.tag;
  for (const std::string& query : queries) {
    if (!number.count(query)) joined.unjudged.insert(query);
  }
  uint32_t place = 0;
  for (const auto& [query, docs] : number) {
    const std::vector<Row> list = ranking(run.rows, query, rules);
    joined.answered.push_back(queries.count(query));
    joined.retrieved.push_back(static_cast<uint32_t>(list.size()));
    for (uint32_t i = 0; i < list.size(); i++) {
      const auto found = docs.find(list[i].doc);
      if (found == docs.end()) continue;
      const auto same = [&](const Row& row) { return row.score == list[i].score; };
      const auto first = std::find_if(list.begin(), list.end(), same) - list.begin();
      const auto count = std::count_if(list.begin(), list.end(), same);
      joined.hits.push_back(
          {place, i + 1, static_cast<uint32_t>(first + 1), static_cast<uint32_t>(first + count), found->second});
    }
    place++;
  }
  return joined;
}

// The first documents of each query, best first.
struct Heads {
  Texts queries, docs;
  std::vector<uint32_t> start, retrieved;
  std::vector<double> scores;

  bool operator==(const Heads& other) const {
    return queries == other.queries && docs == other.docs && start == other.start && retrieved == other.retrieved &&
           scores == other.scores;
  }
};

inline Heads heads(const Rows& run, const Layout& layout, const RankingRules& rules, uint32_t depth) {
  if (layout.value < 0) refuse_scores_as_ranks(run.rows);
  std::set<std::string> queries;
  for (const Row& row : run.rows) queries.insert(row.query);
  Heads found;
  found.start.push_back(0);
  for (const std::string& query : queries) {
    const std::vector<Row> list = ranking(run.rows, query, rules);
    for (uint32_t i = 0; i < list.size() && i < depth; i++) {
      found.docs.push_back(list[i].doc);
      found.scores.push_back(list[i].score);
    }
    found.queries.push_back(query);
    found.start.push_back(static_cast<uint32_t>(found.docs.size()));
    found.retrieved.push_back(static_cast<uint32_t>(list.size()));
  }
  return found;
}

// For each judgment, which of the documents of its query it is in a head, from 1; 0 if it is not there.
inline std::vector<uint32_t> places(const std::vector<Judgment>& judged, const Heads& heads) {
  std::vector<uint32_t> found;
  for (const Judgment& judgment : judged) {
    uint32_t place = 0;
    for (size_t query = 0; query < heads.queries.size(); query++) {
      if (heads.queries[query] != judgment.query) continue;
      for (uint32_t i = heads.start[query]; i < heads.start[query + 1]; i++) {
        if (heads.docs[i] == judgment.doc) place = i - heads.start[query] + 1;
      }
    }
    found.push_back(place);
  }
  return found;
}

// Whether all rows of each of these queries stand together.
template <class Counts>
bool contiguous(const std::vector<Row>& rows, Counts counts) {
  std::set<std::string> ended;
  for (size_t i = 0; i < rows.size(); i++) {
    if (!counts(rows[i].query)) continue;
    if (ended.count(rows[i].query)) return false;
    if (i + 1 < rows.size() && rows[i + 1].query != rows[i].query) ended.insert(rows[i].query);
  }
  return true;
}

// Whether the kernel must accept a text: no control characters, no byte order mark, no long or scientific numbers.
inline bool plain_text(const std::string& text) {
  for (size_t i = 1; i < text.size(); i++) {  // '#' after blanks does not start a comment; the Python readers handle it
    if (text[i] == '#' && (text[i - 1] == ' ' || text[i - 1] == '\t')) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\n' || byte == '\t' || (byte >= ' ' && byte != 0xef);
  });
}

inline bool plain_number(const std::string& token) {
  return token.size() <= 17 && token.find_first_of("eE") == std::string::npos;
}

}  // namespace reference
