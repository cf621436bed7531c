#include "dicts.hpp"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

// The judged documents of one query by the hashes that Python knows already.
class JudgedTable {
 public:
  void fill(PyObject* docs, const JudgedDocuments& judged) {
    docs_ = docs;
    size_t size = 16;
    while (size < 4 * size_t{judged.count}) size *= 2;
    slots_.assign(size, Slot{0, kNone});
    for (uint32_t i = judged.first; i < judged.first + judged.count; i++) {
      const auto full = static_cast<uint64_t>(PyObject_Hash(PyList_GetItem(docs, i)));
      size_t slot = full & (size - 1);
      while (slots_[slot].judgment != kNone) slot = (slot + 1) & (size - 1);
      slots_[slot] = {static_cast<uint32_t>(full >> 32), i};
    }
  }

  // False if no judged document has such a hash.
  ASSAY_INLINE bool may_hold(uint64_t full) const { return slots_[full & (slots_.size() - 1)].judgment != kNone; }

  // The judgment of a document with its hash, or kNone.
  uint32_t find(PyObject* key, uint64_t full) const {
    const size_t mask = slots_.size() - 1;
    for (size_t slot = full & mask; slots_[slot].judgment != kNone; slot = (slot + 1) & mask) {
      const Slot found = slots_[slot];
      if (found.tag == full >> 32 && same(PyList_GetItem(docs_, found.judgment), key)) return found.judgment;
    }
    return kNone;
  }

  static bool same(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

 private:
  struct Slot {
    uint32_t tag;  // the upper half of the hash
    uint32_t judgment;
  };

  PyObject* docs_ = nullptr;
  std::vector<Slot> slots_;
};

// One query's {document: score}.
//
// Few judged documents are looked up in the dict, and the others are only scores. Where there are many, they wait in a
// table for the documents of the dict to come by. Ids are looked at only where scores are equal.
class DictRanking {
 public:
  DictRanking(const DictJoin& with, const RankingRules& rules) : with_(with), rules_(rules), list_(rules) {}

  void join(PyObject* documents, uint32_t place, Hits& hits) {
    const JudgedDocuments judged = with_.judgments.documents(place);
    const bool few = 4 * size_t{judged.count} < static_cast<size_t>(PyDict_Size(documents));
    placed_.clear();
    if (few) {
      read(documents, [](PyObject*) {});
      list_.arrange();
    }
    if (!few || !look_up(documents, judged)) {
      placed_.clear();
      find_judged(documents, judged);
      list_.arrange();
      if (list_.rearranged()) replace_rows();
    }
    const size_t before = hits.hits.size();
    write_hits(list_, placed_, rules_.ties, [this](uint32_t row) { return bytes_of(keys_[row], arena_); }, hits.hits);
    hits.queries.push({place, list_.size(), static_cast<uint32_t>(hits.hits.size() - before)});
    arena_.clear();
  }

  // A query that nobody judged: only to see that keys and scores are what they should be.
  void pass(PyObject* documents) {
    read(documents, [](PyObject*) {});
  }

 private:
  // The rows of judged documents. Those that may be judged are put down first, without a branch: whether the next
  // document is one of them nobody foresees, and a wrong guess costs as much as all the rest.
  void find_judged(PyObject* documents, const JudgedDocuments& judged) {
    table_.fill(with_.docs, judged);
    candidates_.resize(static_cast<size_t>(PyDict_Size(documents)) + 1);
    size_t count = 0;
    read(documents, [&](PyObject* key) {
      const auto full = static_cast<uint64_t>(PyObject_Hash(key));
      candidates_[count] = {full, list_.size()};
      count += table_.may_hold(full);
    });
    for (size_t i = 0; i < count; i++) {
      const uint32_t row = candidates_[i].row, judgment = table_.find(keys_[row], candidates_[i].hash);
      if (judgment != kNone) placed_.push({row, judgment});
    }
  }

  // All keys and scores.
  template <class Visit>
  void read(PyObject* documents, Visit visit) {
    list_.clear();
    keys_.clear();
    PyObject *key, *value;
    for (Py_ssize_t position = 0; PyDict_Next(documents, &position, &key, &value);) {
      if (Py_TYPE(key) != &PyUnicode_Type) throw NotPlain();  // 7 and "7" are the same document
      visit(key);
      list_.add(number(value), 0);
      keys_.push(key);
    }
  }

  ASSAY_INLINE double number(PyObject* value) {
    if (Py_TYPE(value) != known_type_) check_type(value);
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 || !std::isfinite(number)) check_number(number);
    return number;
  }

  // Only types that run no code of others when their number is asked for: that could change the dict.
  ASSAY_RARE void check_type(PyObject* value) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(with_.numbers); i++) {
      if (PyTuple_GetItem(with_.numbers, i) != reinterpret_cast<PyObject*>(Py_TYPE(value))) continue;
      known_type_ = Py_TYPE(value);
      return;
    }
    throw NotPlain();
  }

  ASSAY_RARE static void check_number(double number) {
    if (!PyErr_Occurred() && std::isfinite(number)) return;
    PyErr_Clear();
    throw NotPlain();
  }

  // False if too many documents share the scores of the judged ones, among which each would have to be looked for.
  bool look_up(PyObject* documents, const JudgedDocuments& judged) {
    size_t patience = 4 * size_t{list_.size()};
    for (uint32_t i = judged.first; i < judged.first + judged.count; i++) {
      PyObject* doc = PyList_GetItem(with_.docs, i);
      PyObject* value = PyDict_GetItemWithError(documents, doc);
      if (!value && PyErr_Occurred()) throw Stopped();
      if (!value) continue;
      double score = number(value);
      if (rules_.float32) score = static_cast<float>(score);
      uint32_t place = list_.places_above(score);
      const bool alone = place + 1 == list_.size() || list_.score_at(place + 1) != score;
      for (; !alone && !JudgedTable::same(keys_[list_.row_at(place)], doc); place++) {
        if (patience-- == 0) return false;
      }
      placed_.push({place, i});
    }
    sort_placed();
    return true;
  }

  // From rows to places in the list.
  void replace_rows() {
    std::vector<uint32_t> place_of_row(list_.size());
    for (uint32_t place = 0; place < list_.size(); place++) place_of_row[list_.row_at(place)] = place;
    for (Found& found : placed_) found.place = place_of_row[found.place];
    sort_placed();
  }

  void sort_placed() {
    std::sort(placed_.begin(), placed_.end(), [](const Found& a, const Found& b) { return a.place < b.place; });
  }

  struct Candidate {
    uint64_t hash;
    uint32_t row;
  };

  const DictJoin& with_;
  const RankingRules rules_;
  RankedList list_;
  Rows<PyObject*> keys_;  // of each row; the dict holds them
  JudgedTable table_;
  std::vector<Candidate> candidates_;
  Rows<Found> placed_;
  PyTypeObject* known_type_ = nullptr;
  Arena arena_;
};

}  // namespace

void join_dict(const DictJoin& with, PyObject* run, const RankingRules& rules, Join& join) {
  if (rules.drop_self_match || rules.need_ranks()) throw NotPlain();
  DictRanking ranking(with, rules);
  join.parts.resize(1);
  join.answered.assign(with.judgments.queries(), 0);
  bool any = false;
  PyObject *query, *documents;
  for (Py_ssize_t position = 0; PyDict_Next(run, &position, &query, &documents);) {
    if (Py_TYPE(query) != &PyUnicode_Type || Py_TYPE(documents) != &PyDict_Type) throw NotPlain();
    if (!PyUnicode_GetLength(query)) throw NotPlain();
    if (!PyDict_Size(documents)) continue;  // a query without documents is no query of the run
    any = true;
    PyObject* place = PyDict_GetItemWithError(with.place, query);
    if (!place && PyErr_Occurred()) throw Stopped();
    if (place) {
      const auto index = static_cast<uint32_t>(PyLong_AsUnsignedLong(place));
      join.answered[index] = 1;
      ranking.join(documents, index, join.parts[0]);
    } else {
      ranking.pass(documents);
      Arena arena;
      const Bytes id = bytes_of(query, arena);
      join.unjudged.emplace(id.data, id.size);
    }
  }
  if (!any) throw NotPlain();
}

}  // namespace assay
