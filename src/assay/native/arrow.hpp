// Text and number columns of the Arrow C data interface, as far as runs need them. Independent of rankings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "outcome.hpp"

// The Arrow specification defines these three structures, and every library carries its own copy.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace assay {

// Throws NotPlain for anything unusual, such as a null or another type.
class NumberColumn {
 public:
  // `codes` must be true for the codes of a dictionary column, and false for plain numbers.
  NumberColumn(const ArrowSchema& schema, const ArrowArray& array, bool codes = false);
  double number(int64_t row) const;
  int64_t whole_number(int64_t row) const;

 private:
  char type_;
  const void* values_;
  int64_t offset_;
};

class TextColumn {
 public:
  TextColumn(const ArrowSchema& schema, const ArrowArray& array);
  Bytes text(int64_t row) const;

 private:
  enum class Kind { small, large, view, dictionary };

  Kind kind_;
  const ArrowArray* array_;
  std::vector<NumberColumn> codes_;     // only for a dictionary: one column
  std::vector<TextColumn> dictionary_;  // the texts that the codes refer to
};

// All batches of a stream. Releases them when it is destroyed.
class ArrowTable {
 public:
  explicit ArrowTable(ArrowArrayStream& stream);
  ~ArrowTable() { release(); }
  ArrowTable(const ArrowTable&) = delete;
  ArrowTable& operator=(const ArrowTable&) = delete;

  const ArrowSchema& schema(int column) const { return *schema_.children[column]; }
  int columns() const { return static_cast<int>(schema_.n_children); }
  const std::vector<ArrowArray>& batches() const { return batches_; }

 private:
  void release();

  ArrowSchema schema_{};
  std::vector<ArrowArray> batches_;
};

}  // namespace assay
