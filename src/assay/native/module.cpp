// The Python interface of the kernel: unpacks arguments, calls, and returns columns as bytes. Computes nothing.
//
// Every function returns None if the input is not plain; the caller then takes the NumPy path, which computes the same
// values or reports the error with its line. The Python modules in this folder document arguments and results.

#include "python.hpp"  // first, as Python requires

#include <functional>
#include <string>
#include <vector>

#include "arrow.hpp"
#include "dicts.hpp"
#include "judgments.hpp"
#include "rows.hpp"
#include "sums.hpp"
#include "text.hpp"

namespace assay {
namespace {

constexpr const char* kJudgments = "assay.judgments";
constexpr const char* kDictIndex = "assay.dict_index";
constexpr const char* kWhole = "lq";  // the formats of int64

template <class T>
const T& held_by(PyObject* capsule, const char* name) {
  const void* held = PyCapsule_GetPointer(capsule, name);
  if (!held) throw Stopped();
  return *static_cast<const T*>(held);
}

const Judgments& judgments_of(PyObject* capsule) { return held_by<Judgments>(capsule, kJudgments); }

template <class T>
PyObject* capsule_of(std::unique_ptr<T> held, const char* name) {
  Ref capsule = Ref::checked(PyCapsule_New(held.get(), name, [](PyObject* self) {
    delete static_cast<T*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
  }));
  held.release();
  return capsule.release();
}

// Arguments

Layout layout_of(PyObject* given) {
  Layout layout;
  int or_more, blank_lines, comments, stray_returns, keep_mark, whole_values, header, tabs_only;
  if (!PyArg_ParseTuple(given, "iiiiiIpppppppp", &layout.query, &layout.doc, &layout.value, &layout.rank, &layout.tag,
                        &layout.width, &or_more, &blank_lines, &comments, &stray_returns, &keep_mark, &whole_values,
                        &header, &tabs_only)) {
    throw Stopped();
  }
  layout.or_more = or_more;
  layout.blank_lines = blank_lines;
  layout.comments = comments;
  layout.stray_returns = stray_returns;
  layout.keep_mark = keep_mark;
  layout.whole_values = whole_values;
  layout.header = header;
  layout.tabs_only = tabs_only;
  return layout;
}

// Raises an error unless the layout names columns that are there.
void check_columns(const Layout& layout, uint32_t width, bool need_ranks = false) {
  const auto columns = static_cast<int>(std::min<uint32_t>(width, 1u << 16));
  for (const int column : {layout.query, layout.doc, layout.value, layout.rank, layout.tag}) {
    require(-1 <= column && column < columns, "no such column");
  }
  require(layout.query >= 0 && layout.doc >= 0, "a column of ids is missing");
  require(layout.rank >= 0 || (layout.value >= 0 && !need_ranks), "a column of numbers is missing");
}

RankingRules rules_of(PyObject* given) {
  RankingRules rules;
  int ties, duplicates, by_rank_column, ties_by_rank_column, float32, drop_self_match;
  if (!PyArg_ParseTuple(given, "iipppp", &ties, &duplicates, &by_rank_column, &ties_by_rank_column, &float32,
                        &drop_self_match)) {
    throw Stopped();
  }
  require(0 <= ties && ties <= 2 && 0 <= duplicates && duplicates <= 2, "no such rule");
  rules.ties = static_cast<Ties>(ties);
  rules.duplicates = static_cast<Duplicates>(duplicates);
  rules.by_rank_column = by_rank_column;
  rules.ties_by_rank_column = ties_by_rank_column;
  rules.float32 = float32;
  rules.drop_self_match = drop_self_match;
  return rules;
}

// A source that calls a Python read(size), in pieces small enough for Python to reuse their memory.
Stream stream_of(PyObject* read, Unlocked& unlocked) {
  static constexpr size_t kPiece = 1 << 16;
  return Stream([read, &unlocked](char* into, size_t space) {
    space = std::min(space, kPiece);
    return unlocked.with_python([&]() -> size_t {
      const Ref given = Ref::checked(PyObject_CallFunction(read, "n", static_cast<Py_ssize_t>(space)));
      char* data = nullptr;
      Py_ssize_t size = 0;
      if (PyBytes_AsStringAndSize(given.get(), &data, &size) != 0) throw Stopped();
      if (static_cast<size_t>(size) > space) {
        PyErr_SetString(PyExc_ValueError, "read() gave more than was asked for");
        throw Stopped();
      }
      std::memcpy(into, data, static_cast<size_t>(size));
      return static_cast<size_t>(size);
    });
  });
}

Interrupt interrupt_of(Unlocked& unlocked) {
  return [&unlocked] {
    unlocked.with_python([] {
      if (PyErr_CheckSignals() != 0) throw Stopped();
    });
  };
}

// Results

// A bytes object that is filled in place as a column.
template <class T>
class Column {
 public:
  explicit Column(size_t size)
      : bytes_(Ref::checked(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size * sizeof(T))))),
        data_(reinterpret_cast<T*>(PyBytes_AsString(bytes_.get()))) {}
  T& operator[](size_t i) { return data_[i]; }
  PyObject* release() { return bytes_.release(); }

 private:
  Ref bytes_;
  T* data_;
};

// The result of a join, with the hits in the order of the queries.
PyObject* result_of(const Judgments& judgments, const Join& join) {
  struct Place {
    const Hits* part = nullptr;
    uint32_t query = 0;
    size_t first = 0;
  };
  std::vector<Place> places(judgments.queries());
  size_t count = 0;
  for (const Hits& part : join.parts) {
    size_t first = 0;
    for (uint32_t i = 0; i < part.queries.size(); i++) {
      places[part.queries[i].place] = {&part, i, first};
      first += part.queries[i].hits;
    }
    count += part.hits.size();
  }
  Column<int64_t> retrieved(places.size()), query(count), rank(count), tie_first(count), tie_last(count), number(count);
  Column<char> answered(places.size());
  size_t next = 0;
  for (size_t place = 0; place < places.size(); place++) {
    const Place& from = places[place];
    answered[place] = join.answered[place];
    retrieved[place] = from.part ? from.part->queries[from.query].retrieved : 0;
    const uint32_t hits = from.part ? from.part->queries[from.query].hits : 0;
    for (uint32_t i = 0; i < hits; i++, next++) {
      const Hits::Hit& hit = from.part->hits[from.first + i];
      query[next] = static_cast<int64_t>(place);
      rank[next] = hit.rank;
      tie_first[next] = hit.tie_first;
      tie_last[next] = hit.tie_last;
      number[next] = hit.judgment;
    }
  }
  Ref unjudged = Ref::checked(PyList_New(0));
  for (const std::string& id : join.unjudged) {
    if (PyList_Append(unjudged.get(), text_of({id.data(), id.size()}).get()) != 0) throw Stopped();
  }
  Ref tag = text_of({join.tag.data(), join.tag.size()});
  return Py_BuildValue("NNNNNNNNN", retrieved.release(), answered.release(), query.release(), rank.release(),
                       tie_first.release(), tie_last.release(), number.release(), unjudged.release(), tag.release());
}

// A tuple with the ids of the queries.
Ref queries_of(const Judgments& judgments) {
  const auto count = static_cast<uint32_t>(judgments.queries());
  Ref ids = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (uint32_t i = 0; i < count; i++) PyTuple_SetItem(ids.get(), i, text_of(judgments.query(i)).release());
  return ids;
}

// Functions

// read_judgments(read, layout) -> (judgments, queries, start, grades, pool)
PyObject* read_judgments_face(PyObject* args) {
  PyObject *read, *layout;
  if (!PyArg_ParseTuple(args, "OO", &read, &layout)) throw Stopped();
  auto judgments = std::make_unique<Judgments>();
  Rows<double> grades;
  {
    const Layout columns = layout_of(layout);
    check_columns(columns, columns.width);
    require(columns.value >= 0, "a column of grades is missing");
    Unlocked unlocked;
    Stream source = stream_of(read, unlocked);
    grades = read_judgments(source, columns, interrupt_of(unlocked), *judgments);
  }
  const size_t queries = judgments->queries();
  Column<int64_t> start(queries + 1);
  Column<double> grade(grades.size()), pool(grades.size());
  for (size_t i = 0; i <= queries; i++) start[i] = judgments->starts()[i];
  for (size_t i = 0; i < grades.size(); i++) grade[i] = pool[i] = grades[i];
  for (size_t i = 0; i < queries; i++) {
    if (start[i] == start[i + 1]) continue;
    std::sort(&pool[start[i]], &pool[start[i]] + (start[i + 1] - start[i]), std::greater<>());
  }
  Ref ids = queries_of(*judgments);
  return Py_BuildValue("NNNNN", capsule_of(std::move(judgments), kJudgments), ids.release(), start.release(),
                       grade.release(), pool.release());
}

// index_judgments(queries, start, docs) -> judgments
PyObject* index_judgments_face(PyObject* args) {
  PyObject *queries, *start, *docs;
  if (!PyArg_ParseTuple(args, "OOO", &queries, &start, &docs)) throw Stopped();
  const View starts(start, sizeof(int64_t), kWhole);
  require(PyTuple_Check(queries) && PyList_Check(docs), "queries in a tuple and documents in a list were expected");
  require(starts.size() == static_cast<size_t>(PyTuple_Size(queries)) + 1, "each query needs a start");
  auto judgments = std::make_unique<Judgments>();
  for (Py_ssize_t query = 0; query < PyTuple_Size(queries); query++) {
    Arena arena;
    judgments->open_query(bytes_of(PyTuple_GetItem(queries, query), arena));
    require(starts.data<int64_t>()[query] >= 0, "no such document");
    for (int64_t i = starts.data<int64_t>()[query]; i < starts.data<int64_t>()[query + 1]; i++) {
      PyObject* doc = PyList_GetItem(docs, static_cast<Py_ssize_t>(i));
      if (!doc) throw Stopped();
      judgments->add(bytes_of(doc, arena));
    }
  }
  if (!judgments->finish().empty()) throw NotPlain();  // queries are given in byte order
  return capsule_of(std::move(judgments), kJudgments);
}

// documents(judgments) -> list of ids
PyObject* documents_face(PyObject* args) {
  PyObject* capsule;
  if (!PyArg_ParseTuple(args, "O", &capsule)) throw Stopped();
  const Judgments& judgments = judgments_of(capsule);
  Ref ids = Ref::checked(PyList_New(static_cast<Py_ssize_t>(judgments.size())));
  for (size_t i = 0; i < judgments.size(); i++) {
    PyList_SetItem(ids.get(), static_cast<Py_ssize_t>(i), text_of(judgments.doc(i)).release());
  }
  return ids.release();
}

// join_text(judgments, read, layout, rules, gathered) -> result, or False if queries are interleaved
PyObject* join_text_face(PyObject* args) {
  PyObject *capsule, *read, *layout, *rules;
  int all_at_once;
  if (!PyArg_ParseTuple(args, "OOOOp", &capsule, &read, &layout, &rules, &all_at_once)) throw Stopped();
  const Judgments& judgments = judgments_of(capsule);
  const Layout columns = layout_of(layout);
  const RankingRules ranking = rules_of(rules);
  check_columns(columns, columns.width, ranking.need_ranks());
  Join join;
  {
    Unlocked unlocked;
    Stream source = stream_of(read, unlocked);
    (all_at_once ? join_gathered : join_stream)(judgments, source, columns, ranking, interrupt_of(unlocked), join);
  }
  return result_of(judgments, join);
}

// join_file(judgments, file, size, layout, rules, threads, gathered) -> result, or False if queries are interleaved
PyObject* join_file_face(PyObject* args) {
#if defined(_WIN32)
  (void)args;
  throw NotPlain();
#else
  PyObject *capsule, *layout, *rules;
  int file, threads, all_at_once;
  unsigned long long size;
  if (!PyArg_ParseTuple(args, "OiKOOip", &capsule, &file, &size, &layout, &rules, &threads, &all_at_once)) {
    throw Stopped();
  }
  const Judgments& judgments = judgments_of(capsule);
  const Layout columns = layout_of(layout);
  const RankingRules ranking = rules_of(rules);
  check_columns(columns, columns.width, ranking.need_ranks());
  Join join;
  {
    Unlocked unlocked;
    const Interrupt interrupt = interrupt_of(unlocked);
    if (all_at_once) {
      FilePart whole(file, 0, size);
      join_gathered(judgments, whole, columns, ranking, interrupt, join);
    } else {
      join_file(judgments, file, size, columns, ranking, static_cast<unsigned>(threads), interrupt, join);
    }
  }
  return result_of(judgments, join);
#endif
}

// documents_at(judgments, numbers) -> list of ids
PyObject* documents_at_face(PyObject* args) {
  PyObject *capsule, *numbers;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &numbers)) throw Stopped();
  const Judgments& judgments = judgments_of(capsule);
  const View chosen(numbers, sizeof(int64_t), kWhole);
  Ref ids = Ref::checked(PyList_New(static_cast<Py_ssize_t>(chosen.size())));
  for (size_t i = 0; i < chosen.size(); i++) {
    const int64_t number = chosen.data<int64_t>()[i];
    require(0 <= number && static_cast<uint64_t>(number) < judgments.size(), "no such document");
    Ref id = text_of(judgments.doc(static_cast<size_t>(number)));
    PyList_SetItem(ids.get(), static_cast<Py_ssize_t>(i), id.release());
  }
  return ids.release();
}

// places_in(judgments, others) -> for each document, which one of the query it is there, from 1; 0 if none
PyObject* places_in_face(PyObject* args) {
  PyObject *capsule, *other;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &other)) throw Stopped();
  const Judgments &judgments = judgments_of(capsule), &others = judgments_of(other);
  std::vector<uint32_t> found;
  {
    Unlocked unlocked;
    found = places_in(judgments, others);
  }
  Column<int64_t> places(found.size());
  for (size_t i = 0; i < found.size(); i++) places[i] = found[i];
  return places.release();
}

// The result of heads: documents, queries, start of each query, scores, number of documents retrieved.
PyObject* result_of(std::unique_ptr<Heads> heads) {
  const size_t queries = heads->documents.queries();
  Column<int64_t> start(queries + 1), retrieved(queries);
  Column<double> scores(heads->scores.size());
  for (size_t i = 0; i <= queries; i++) start[i] = heads->documents.starts()[i];
  for (size_t i = 0; i < queries; i++) retrieved[i] = heads->retrieved[i];
  for (size_t i = 0; i < heads->scores.size(); i++) scores[i] = heads->scores[i];
  Ref ids = queries_of(heads->documents);
  PyObject* documents = capsule_of(std::make_unique<Judgments>(std::move(heads->documents)), kJudgments);
  return Py_BuildValue("NNNNN", documents, ids.release(), start.release(), scores.release(), retrieved.release());
}

// head_text(read, layout, rules, depth, gathered) -> result, or False if queries are interleaved
PyObject* head_text_face(PyObject* args) {
  PyObject *read, *layout, *rules;
  unsigned depth;
  int all_at_once;
  if (!PyArg_ParseTuple(args, "OOOIp", &read, &layout, &rules, &depth, &all_at_once)) throw Stopped();
  const Layout columns = layout_of(layout);
  const RankingRules ranking = rules_of(rules);
  check_columns(columns, columns.width, ranking.need_ranks());
  auto heads = std::make_unique<Heads>();
  {
    Unlocked unlocked;
    Stream source = stream_of(read, unlocked);
    (all_at_once ? head_gathered : head_stream)(source, columns, ranking, depth, interrupt_of(unlocked), *heads);
  }
  return result_of(std::move(heads));
}

// head_file(file, size, layout, rules, depth, threads, gathered) -> result, or False if queries are interleaved
PyObject* head_file_face(PyObject* args) {
#if defined(_WIN32)
  (void)args;
  throw NotPlain();
#else
  PyObject *layout, *rules;
  unsigned depth;
  int file, threads, all_at_once;
  unsigned long long size;
  if (!PyArg_ParseTuple(args, "iKOOIip", &file, &size, &layout, &rules, &depth, &threads, &all_at_once)) {
    throw Stopped();
  }
  const Layout columns = layout_of(layout);
  const RankingRules ranking = rules_of(rules);
  check_columns(columns, columns.width, ranking.need_ranks());
  auto heads = std::make_unique<Heads>();
  {
    Unlocked unlocked;
    const Interrupt interrupt = interrupt_of(unlocked);
    if (all_at_once) {
      FilePart whole(file, 0, size);
      head_gathered(whole, columns, ranking, depth, interrupt, *heads);
    } else {
      head_file(file, size, columns, ranking, depth, static_cast<unsigned>(threads), interrupt, *heads);
    }
  }
  return result_of(std::move(heads));
#endif
}

// The values as bytes.
template <class T>
Ref bytes_of(const Rows<T>& values) {
  return Ref::checked(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(values.begin()),
                                                static_cast<Py_ssize_t>(values.size() * sizeof(T))));
}

template <class Make>
Ref list_of(const Rows<Bytes>& ids, Make make) {
  Ref list = Ref::checked(PyList_New(static_cast<Py_ssize_t>(ids.size())));
  for (size_t i = 0; i < ids.size(); i++)
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), make(ids[i]).release());
  return list;
}

// read_columns(text, layout, as_text) -> (documents, queries, rows of each, tags, rows of each, scores, ranks)
PyObject* read_columns_face(PyObject* args) {
  PyObject *text, *layout;
  int as_text;
  if (!PyArg_ParseTuple(args, "OOp", &text, &layout, &as_text)) throw Stopped();
  const Layout columns = layout_of(layout);
  check_columns(columns, columns.width);
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(text, &data, &size) != 0) throw Stopped();
  Columns found;
  {
    Unlocked unlocked;
    size_t taken = 0;
    Stream source([&](char* into, size_t space) {
      space = std::min(space, static_cast<size_t>(size) - taken);
      if (space) std::memcpy(into, data + taken, space);
      taken += space;
      return space;
    });
    read_columns(source, columns, found);
  }
  const auto raw = [](Bytes id) {
    return Ref::checked(PyBytes_FromStringAndSize(id.data, static_cast<Py_ssize_t>(id.size)));
  };
  Ref docs = as_text ? list_of(found.docs, text_of) : list_of(found.docs, raw);
  Ref queries = list_of(found.queries, raw), tags = list_of(found.tags, raw);
  return Py_BuildValue("NNNNNNN", docs.release(), queries.release(), bytes_of(found.query_rows).release(),
                       tags.release(), bytes_of(found.tag_rows).release(), bytes_of(found.scores).release(),
                       bytes_of(found.ranks).release());
}

// Rows of a Run table: documents are Python strings.
struct TableRows {
  PyObject* const* docs;
  const double* scores;
  const int64_t* ranks;
  Arena arena;

  Bytes doc(uint32_t row) { return bytes_of(docs[row], arena); }
  double score(uint32_t row) const { return scores[row]; }
  int64_t rank(uint32_t row) const { return ranks ? ranks[row] : 0; }
};

// join_table(judgments, place_of_row, docs, scores, ranks or None, rules) -> result
PyObject* join_table_face(PyObject* args) {
  PyObject *capsule, *place, *docs, *scores, *ranks, *rules;
  if (!PyArg_ParseTuple(args, "OOOOOO", &capsule, &place, &docs, &scores, &ranks, &rules)) throw Stopped();
  const Judgments& judgments = judgments_of(capsule);
  const RankingRules ranking = rules_of(rules);
  const View places(place, sizeof(int64_t), kWhole), texts(docs, sizeof(PyObject*), "O"),
      values(scores, sizeof(double), "d");
  const std::unique_ptr<View> columns(ranks == Py_None ? nullptr : new View(ranks, sizeof(int64_t), kWhole));
  const size_t rows_given = places.size();
  require(texts.size() == rows_given && values.size() == rows_given && (!columns || columns->size() == rows_given),
          "columns have different lengths");
  if (values.size() >= kNone || (ranking.need_ranks() && !columns)) throw NotPlain();
  std::vector<uint32_t> place_of_row(places.size());
  for (size_t row = 0; row < places.size(); row++) {
    const int64_t number = places.data<int64_t>()[row];
    require(number < static_cast<int64_t>(judgments.queries()), "no such query");
    place_of_row[row] = number < 0 ? kNone : static_cast<uint32_t>(number);
  }
  TableRows rows{texts.data<PyObject*>(), values.data<double>(), columns ? columns->data<int64_t>() : nullptr, {}};
  Join join;
  join_rows(judgments, place_of_row, rows, ranking, join);
  return result_of(judgments, join);
}

// join_arrow(judgments, stream, layout, rules) -> result
PyObject* join_arrow_face(PyObject* args) {
  PyObject *capsule, *stream, *layout, *rules;
  if (!PyArg_ParseTuple(args, "OOOO", &capsule, &stream, &layout, &rules)) throw Stopped();
  const Judgments& judgments = judgments_of(capsule);
  auto* arrays = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(stream, "arrow_array_stream"));
  if (!arrays) throw Stopped();
  const Layout columns = layout_of(layout);
  const RankingRules ranking = rules_of(rules);
  require(columns.value >= 0, "a column of scores is missing");
  Join join;
  {
    Unlocked unlocked;
    join_arrow(judgments, *arrays, columns, ranking, join);
  }
  return result_of(judgments, join);
}

// dict_index(judgments, docs, place, numbers) -> index
PyObject* dict_index_face(PyObject* args) {
  PyObject *capsule, *docs, *place, *numbers;
  if (!PyArg_ParseTuple(args, "OOOO", &capsule, &docs, &place, &numbers)) throw Stopped();
  const Judgments& judgments = judgments_of(capsule);
  require(PyList_Check(docs) && PyDict_Check(place) && PyTuple_Check(numbers),
          "a list, a dict and a tuple were expected");
  require(static_cast<size_t>(PyList_Size(docs)) == judgments.size(), "these are not the judged documents");
  return capsule_of(std::make_unique<DictIndex>(Ref::borrowed(capsule), judgments, Ref::borrowed(docs),
                                                Ref::borrowed(place), Ref::borrowed(numbers)),
                    kDictIndex);
}

// join_dict(index, run, rules) -> result
PyObject* join_dict_face(PyObject* args) {
  PyObject *capsule, *run, *rules;
  if (!PyArg_ParseTuple(args, "OOO", &capsule, &run, &rules)) throw Stopped();
  const DictIndex& index = held_by<DictIndex>(capsule, kDictIndex);
  Join join;
  join_dict(index, run, rules_of(rules), join);
  return result_of(index.judgments, join);
}

// exact_sum(values) -> the parts of the sum
PyObject* exact_sum_face(PyObject* args) {
  PyObject* values;
  if (!PyArg_ParseTuple(args, "O", &values)) throw Stopped();
  const View numbers(values, sizeof(double), "d");
  if (numbers.size() > ExactSum::kMost) throw NotPlain();
  ExactSum sum;
  for (size_t i = 0; i < numbers.size(); i++) sum.add(numbers.data<double>()[i]);
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(sum.parts), sizeof sum.parts);
}

// instructions() -> names; use_instructions(name) -> None. For tests: see tokens.hpp.
PyObject* instructions_face(PyObject*) {
  Ref names = Ref::checked(PyList_New(0));
  for (const std::string& name : instructions()) {
    if (PyList_Append(names.get(), text_of({name.data(), name.size()}).get()) != 0) throw Stopped();
  }
  return names.release();
}

PyObject* use_instructions_face(PyObject* args) {
  const char* name;
  if (!PyArg_ParseTuple(args, "s", &name)) throw Stopped();
  if (!use_instructions(name)) {
    PyErr_Format(PyExc_ValueError, "this processor has no instructions called '%s'", name);
    throw Stopped();
  }
  Py_RETURN_NONE;
}

// Turns C++ exceptions into Python results and errors.
template <PyObject* (*Function)(PyObject*)>
PyObject* guarded(PyObject*, PyObject* args) {
  try {
    return Function(args);
  } catch (const NotPlain&) {
    if (PyErr_Occurred()) return nullptr;  // an interrupt arrived at the same time
    Py_RETURN_NONE;
  } catch (const Interleaved&) {
    if (PyErr_Occurred()) return nullptr;
    Py_RETURN_FALSE;
  } catch (const Stopped&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

PyMethodDef functions[] = {
    {"read_judgments", guarded<read_judgments_face>, METH_VARARGS, nullptr},
    {"read_columns", guarded<read_columns_face>, METH_VARARGS, nullptr},
    {"index_judgments", guarded<index_judgments_face>, METH_VARARGS, nullptr},
    {"documents", guarded<documents_face>, METH_VARARGS, nullptr},
    {"documents_at", guarded<documents_at_face>, METH_VARARGS, nullptr},
    {"places_in", guarded<places_in_face>, METH_VARARGS, nullptr},
    {"head_text", guarded<head_text_face>, METH_VARARGS, nullptr},
    {"head_file", guarded<head_file_face>, METH_VARARGS, nullptr},
    {"join_text", guarded<join_text_face>, METH_VARARGS, nullptr},
    {"join_file", guarded<join_file_face>, METH_VARARGS, nullptr},
    {"join_table", guarded<join_table_face>, METH_VARARGS, nullptr},
    {"join_arrow", guarded<join_arrow_face>, METH_VARARGS, nullptr},
    {"dict_index", guarded<dict_index_face>, METH_VARARGS, nullptr},
    {"join_dict", guarded<join_dict_face>, METH_VARARGS, nullptr},
    {"exact_sum", guarded<exact_sum_face>, METH_VARARGS, nullptr},
    {"instructions", guarded<instructions_face>, METH_VARARGS, nullptr},
    {"use_instructions", guarded<use_instructions_face>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "See assay.native.", 0, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace assay

PyMODINIT_FUNC PyInit__kernel() { return PyModuleDef_Init(&assay::definition); }
