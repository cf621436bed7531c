// Where bytes come from: part of a file, or a function. Independent of lines.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include <cerrno>
#include <functional>
#include <utility>

#include "outcome.hpp"

namespace assay {

class Source {
 public:
  virtual ~Source() = default;
  // Reads at most `space` bytes and returns how many; 0 only at the end.
  virtual size_t read(char* into, size_t space) = 0;
};

#if !defined(_WIN32)
// Part of an open file. Several threads may read parts of the same file.
class FilePart : public Source {
 public:
  FilePart(int file, uint64_t begin, uint64_t end) : file_(file), next_(begin), end_(end) {}

  size_t read(char* into, size_t space) override {
    if (next_ >= end_) return 0;
    if (space > end_ - next_) space = static_cast<size_t>(end_ - next_);
    ssize_t got;
    do {
      got = pread(file_, into, space, static_cast<off_t>(next_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw NotPlain();  // the Python reader meets the same error and reports it
    next_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }

 private:
  int file_;
  uint64_t next_, end_;
};
#endif

// Bytes from a function.
class Stream : public Source {
 public:
  explicit Stream(std::function<size_t(char*, size_t)> read) : read_(std::move(read)) {}
  size_t read(char* into, size_t space) override { return read_(into, space); }

 private:
  std::function<size_t(char*, size_t)> read_;
};

}  // namespace assay
