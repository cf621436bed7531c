#include "dicts.hpp"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

// One query's {document: score}.
//
// The judged documents are looked up in the dict, which finds them by hashes that Python knows already; the others are
// only scores. Their ids are looked at where they share the score of a judged document.
class DictRanking {
 public:
  DictRanking(const DictJoin& with, const RankingRules& rules) : with_(with), rules_(rules), list_(rules) {}

  void join(PyObject* documents, uint32_t place, Hits& hits) {
    read(documents);
    list_.arrange();
    const size_t before = hits.hits.size();
    find(documents, with_.judgments.documents(place));
    write_hits(list_, found_, rules_.ties, [this](uint32_t row) { return bytes_of(keys_[row], arena_); }, hits.hits);
    hits.queries.push_back({place, list_.size(), static_cast<uint32_t>(hits.hits.size() - before)});
    arena_.clear();
  }

  // All keys and scores; also of a query that nobody judged, to see that they are what they should be.
  void read(PyObject* documents) {
    list_.clear();
    keys_.clear();
    PyObject *key, *value;
    for (Py_ssize_t position = 0; PyDict_Next(documents, &position, &key, &value);) {
      if (Py_TYPE(key) != &PyUnicode_Type) throw NotPlain();  // 7 and "7" are the same document
      list_.add(number(value), 0);
      keys_.push_back(key);
    }
  }

 private:
  double number(PyObject* value) {
    if (Py_TYPE(value) != known_type_) {
      const int is_number = PyObject_IsInstance(value, with_.numbers);
      if (is_number < 0) throw Stopped();
      if (!is_number) throw NotPlain();
      known_type_ = Py_TYPE(value);
    }
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      throw NotPlain();
    }
    if (!std::isfinite(number)) throw NotPlain();
    return number;
  }

  void find(PyObject* documents, const JudgedDocuments& judged) {
    found_.clear();
    for (uint32_t i = judged.first; i < judged.first + judged.count; i++) {
      PyObject* doc = PyList_GetItem(with_.docs, i);
      PyObject* value = PyDict_GetItemWithError(documents, doc);
      if (!value && PyErr_Occurred()) throw Stopped();
      if (value) found_.push_back({place_of(doc, number(value)), i});
    }
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.place < b.place; });
  }

  // Where the document stands: there are few with its score, most often none but itself.
  uint32_t place_of(PyObject* doc, double score) const {
    if (rules_.float32) score = static_cast<float>(score);
    uint32_t low = 0, high = list_.size();
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (list_.score_at(middle) > score) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const bool alone = low + 1 == list_.size() || list_.score_at(low + 1) != score;
    while (!alone && !same(keys_[list_.row_at(low)], doc)) low++;
    return low;
  }

  static bool same(PyObject* key, PyObject* doc) { return key == doc || PyUnicode_Compare(key, doc) == 0; }

  const DictJoin& with_;
  const RankingRules rules_;
  RankedList list_;
  std::vector<PyObject*> keys_;  // of each row; the dict holds them
  std::vector<Found> found_;
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
    if (!PyDict_Size(documents)) continue;  // a query without documents is no query of the run
    any = true;
    PyObject* place = PyDict_GetItemWithError(with.place, query);
    if (!place && PyErr_Occurred()) throw Stopped();
    if (place) {
      const auto index = static_cast<uint32_t>(PyLong_AsUnsignedLong(place));
      join.answered[index] = 1;
      ranking.join(documents, index, join.parts[0]);
    } else {
      ranking.read(documents);
      Arena arena;
      const Bytes id = bytes_of(query, arena);
      join.unjudged.emplace(id.data, id.size);
    }
  }
  if (!any) throw NotPlain();
}

}  // namespace assay
