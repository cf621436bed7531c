#include "dicts.hpp"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

// Whether two str objects hold the same text.
bool same(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

}  // namespace

void JudgedTable::fill(PyObject* docs, const JudgedDocuments& judged) {
  size_t size = 16;
  while (size < 2 * size_t{judged.count}) size *= 2;
  slots_.assign(size, Slot{0, kNone});
  sieve_.assign(size / 8, 0);
  for (uint32_t i = judged.first; i < judged.first + judged.count; i++) {
    const auto full = static_cast<uint64_t>(PyObject_Hash(PyList_GetItem(docs, i)));
    size_t slot = full & (size - 1);
    while (slots_[slot].judgment != kNone) slot = (slot + 1) & (size - 1);
    slots_[slot] = {static_cast<uint32_t>(full >> 32), i};
    sieve_[word_of(full)] |= bit_of(full);
  }
}

DictIndex::DictIndex(Ref capsule, const Judgments& judgments, Ref docs, Ref place, Ref numbers)
    : judgments(judgments),
      docs(docs.get()),
      place(place.get()),
      numbers(numbers.get()),
      tables_(judgments.queries()),
      kept_{std::move(capsule), std::move(docs), std::move(place), std::move(numbers)} {}

const JudgedTable& DictIndex::table(uint32_t place) const {
  JudgedTable& table = tables_[place];
  if (table.empty()) table.fill(docs, judgments.documents(place));
  return table;
}

namespace {

// Ranks one query's {document: score}.
//
// If few documents are judged, each is looked up in the dict, and the other documents count only as scores. If many
// are, each document of the dict is looked up in a table of the judged ones. Ids are compared only if scores are equal.
class DictRanking {
 public:
  DictRanking(const DictIndex& with, const RankingRules& rules) : with_(with), rules_(rules), list_(rules) {}

  void join(PyObject* documents, uint32_t place, Hits& hits) {
    const JudgedDocuments judged = with_.judgments.documents(place);
    const bool few = 4 * size_t{judged.count} < static_cast<size_t>(PyDict_Size(documents));
    placed_.clear();
    if (few) {
      read(documents, [](PyObject*, uint32_t) {});
      list_.arrange();
    }
    if (!few || !look_up(documents, judged)) {
      placed_.clear();
      find_judged(documents, place);
      list_.arrange();
      if (list_.rearranged()) replace_rows();
    }
    const size_t before = hits.hits.size();
    const auto id_of_row = [this](uint32_t row) { return bytes_of(keys_[row], arena_); };
    write_hits(list_, placed_, rules_.ties, id_of_row, hits.hits);
    hits.queries.push({place, list_.size(), static_cast<uint32_t>(hits.hits.size() - before)});
    arena_.clear();
  }

  // A query without judgments: only checks its keys and scores.
  void pass(PyObject* documents) {
    read(documents, [](PyObject*, uint32_t) {});
  }

 private:
  // Finds the rows of judged documents. Candidates are collected first, without a branch: the processor cannot predict
  // whether the next document is one, and a wrong prediction costs as much as all the rest.
  void find_judged(PyObject* documents, uint32_t place) {
    const JudgedTable& table = with_.table(place);
    candidates_.resize(static_cast<size_t>(PyDict_Size(documents)) + 1);
    size_t count = 0;
    read(documents, [&](PyObject* key, uint32_t row) {
      const auto full = static_cast<uint64_t>(hash_of_text_(key));
      candidates_[count] = {full, row};
      count += table.may_hold(full);
    });
    fetch_judged(table, with_.judgments.documents(place));
    for (size_t i = 0; i < count; i++) {
      const uint32_t row = candidates_[i].row;
      const auto is_it = [&](uint32_t judgment) { return is_document(keys_[row], judgment); };
      const uint32_t judgment = table.find(candidates_[i].hash, is_it);
      if (judgment != kNone) placed_.push({row, judgment});
    }
  }

  // Reading the dict has evicted all this from the processor's caches.
  static void fetch_judged(const JudgedTable& table, const JudgedDocuments& judged) {
    table.fetch_slots();
    fetch(judged.ids, judged.count);
    for (uint32_t i = 0; i < judged.count; i += kCacheLine / sizeof(Bytes)) fetch(judged.ids[i].data, 1);
  }

  bool is_document(PyObject* key, uint32_t judgment) {
    Py_ssize_t size = 0;
    if (const char* data = PyUnicode_AsUTF8AndSize(key, &size)) {
      return equal({data, static_cast<size_t>(size)}, with_.judgments.doc(judgment));
    }
    PyErr_Clear();  // the id has bytes that were not valid UTF-8
    return same(PyList_GetItem(with_.docs, judgment), key);
  }

  // Reads all keys and scores.
  template <class Visit>
  void read(PyObject* documents, Visit visit) {
    const auto size = static_cast<size_t>(PyDict_Size(documents));
    keys_.resize(size);
    scores_.resize(size);
    PyObject *key, *value;
    uint32_t row = 0;
    for (Py_ssize_t position = 0; row < size && PyDict_Next(documents, &position, &key, &value); row++) {
      if (Py_TYPE(key) != &PyUnicode_Type) throw NotPlain();  // 7 and "7" are the same document
      check_id(key);
      visit(key, row);
      scores_[row] = number(value);
      keys_[row] = key;
    }
    list_.clear();
    list_.add_all(scores_.data(), nullptr, row);
  }

  // Accepts only ids that a file can hold: not empty, and without half a character. Python keeps the UTF-8 of an id, so
  // that the next evaluation finds it; that of ASCII is the id itself.
  ASSAY_INLINE void check_id(PyObject* key) {
    Py_ssize_t size = 0;
    if (!PyUnicode_AsUTF8AndSize(key, &size)) return check_bytes(key);
    if (size == 0) throw NotPlain();
  }

  ASSAY_RARE static void check_bytes(PyObject* key) {
    PyErr_Clear();
    Arena arena;
    bytes_of(key, arena);
  }

  ASSAY_INLINE double number(PyObject* value) {
    if (Py_TYPE(value) != known_type_) check_type(value);
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 || !std::isfinite(number)) check_number(number);
    return number;
  }

  // Accepts only types whose conversion to a number runs no user code, which could change the dict.
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

  // Returns false if so many documents share a score with a judged one that searching among them would take too long.
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
      for (; !alone && !same(keys_[list_.row_at(place)], doc); place++) {
        if (patience-- == 0) return false;
      }
      placed_.push({place, i});
    }
    sort_placed();
    return true;
  }

  // Turns rows into places in the list.
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

  const DictIndex& with_;
  const RankingRules rules_;
  // Saves the lookup that PyObject_Hash does for each document.
  const hashfunc hash_of_text_ = reinterpret_cast<hashfunc>(PyType_GetSlot(&PyUnicode_Type, Py_tp_hash));
  RankedList list_;
  std::vector<PyObject*> keys_;  // by row; the dict owns them
  std::vector<double> scores_;
  std::vector<Candidate> candidates_;
  Rows<Found> placed_;
  PyTypeObject* known_type_ = nullptr;
  Arena arena_;
};

}  // namespace

void join_dict(const DictIndex& with, PyObject* run, const RankingRules& rules, Join& join) {
  if (rules.drop_self_match || rules.need_ranks()) throw NotPlain();
  DictRanking ranking(with, rules);
  join.parts.resize(1);
  join.answered.assign(with.judgments.queries(), 0);
  bool any = false;
  PyObject *query, *documents;
  for (Py_ssize_t position = 0; PyDict_Next(run, &position, &query, &documents);) {
    if (Py_TYPE(query) != &PyUnicode_Type || Py_TYPE(documents) != &PyDict_Type) throw NotPlain();
    if (!PyUnicode_GetLength(query)) throw NotPlain();
    if (!PyDict_Size(documents)) continue;  // a query without documents does not count as part of the run
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
