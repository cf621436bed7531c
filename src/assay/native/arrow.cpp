#include "arrow.hpp"

#include <cmath>

namespace assay {

namespace {

void refuse_nulls(const ArrowArray& array) {
  const auto* valid = array.n_buffers > 0 ? static_cast<const unsigned char*>(array.buffers[0]) : nullptr;
  if (array.null_count == 0 || !valid) return;
  if (array.null_count > 0) throw NotPlain();
  for (int64_t i = array.offset; i < array.offset + array.length; i++) {  // null_count is -1: not known
    if (!(valid[i / 8] >> (i % 8) & 1)) throw NotPlain();
  }
}

template <class T>
T value_at(const void* values, int64_t row) {
  return static_cast<const T*>(values)[row];
}

template <class Offset>
Bytes text_at(const ArrowArray& array, int64_t row) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  const auto begin = offsets[row], end = offsets[row + 1];
  return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<size_t>(end - begin)};
}

// A view is a length followed by the text itself if that is at most 12 bytes, or else by a buffer number and an offset.
Bytes view_at(const ArrowArray& array, int64_t row) {
  const char* view = static_cast<const char*>(array.buffers[1]) + 16 * (array.offset + row);
  int32_t length, buffer, offset;
  std::memcpy(&length, view, 4);
  if (length <= 12) return {view + 4, static_cast<size_t>(length)};
  std::memcpy(&buffer, view + 8, 4);
  std::memcpy(&offset, view + 12, 4);
  return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, static_cast<size_t>(length)};
}

}  // namespace

NumberColumn::NumberColumn(const ArrowSchema& schema, const ArrowArray& array, bool codes) : offset_(array.offset) {
  const std::string format = schema.format;
  if ((schema.dictionary != nullptr) != codes) throw NotPlain();
  if (format.size() != 1 || std::string("cCsSiIlLfg").find(format) == std::string::npos) throw NotPlain();
  refuse_nulls(array);
  type_ = format[0];
  values_ = array.buffers[1];
}

double NumberColumn::number(int64_t row) const {
  const int64_t i = offset_ + row;
  if (type_ == 'g' || type_ == 'f') {
    const double value = type_ == 'g' ? value_at<double>(values_, i) : static_cast<double>(value_at<float>(values_, i));
    if (!std::isfinite(value)) throw NotPlain();
    return value;
  }
  return type_ == 'L' ? static_cast<double>(value_at<uint64_t>(values_, i)) : static_cast<double>(whole_number(row));
}

int64_t NumberColumn::whole_number(int64_t row) const {
  const int64_t i = offset_ + row;
  switch (type_) {
    case 'c': return value_at<int8_t>(values_, i);
    case 'C': return value_at<uint8_t>(values_, i);
    case 's': return value_at<int16_t>(values_, i);
    case 'S': return value_at<uint16_t>(values_, i);
    case 'i': return value_at<int32_t>(values_, i);
    case 'I': return value_at<uint32_t>(values_, i);
    case 'l': return value_at<int64_t>(values_, i);
    default: throw NotPlain();
  }
}

TextColumn::TextColumn(const ArrowSchema& schema, const ArrowArray& array) : array_(&array) {
  const std::string format = schema.format;
  if (schema.dictionary) {
    kind_ = Kind::dictionary;
    codes_.emplace_back(schema, array, true);
    dictionary_.emplace_back(*schema.dictionary, *array.dictionary);
    return;
  }
  refuse_nulls(array);
  if (format == "u") {
    kind_ = Kind::small;
  } else if (format == "U") {
    kind_ = Kind::large;
  } else if (format == "vu") {
    kind_ = Kind::view;
  } else {
    throw NotPlain();
  }
}

Bytes TextColumn::text(int64_t row) const {
  switch (kind_) {
    case Kind::small: return text_at<int32_t>(*array_, row);
    case Kind::large: return text_at<int64_t>(*array_, row);
    case Kind::view: return view_at(*array_, row);
    default: break;
  }
  const int64_t code = codes_[0].whole_number(row);
  if (code < 0 || code >= dictionary_[0].array_->length) throw NotPlain();
  return dictionary_[0].text(code);
}

ArrowTable::ArrowTable(ArrowArrayStream& stream) {
  if (stream.get_schema(&stream, &schema_) != 0) throw NotPlain();
  for (;;) {
    ArrowArray batch{};
    const bool failed = stream.get_next(&stream, &batch) != 0;
    if (!failed && !batch.release) return;
    if (!failed) batches_.push_back(batch);
    if (failed || batch.n_children != schema_.n_children || batch.null_count > 0 || batch.offset != 0) {
      release();
      throw NotPlain();
    }
  }
}

void ArrowTable::release() {
  for (ArrowArray& batch : batches_) batch.release(&batch);
  batches_.clear();
  if (schema_.release) schema_.release(&schema_);
  schema_.release = nullptr;
}

}  // namespace assay
