// The data lines of a text in columns, one after the other, from a buffer of constant size. Knows no ranking.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "numbers.hpp"
#include "outcome.hpp"
#include "source.hpp"
#include "tokens.hpp"

namespace assay {

// Which column holds what, and what the dialect takes for granted: see formats/dialects.py and formats/lines.py.
struct Layout {
  int query = 0, doc = 2, value = 4, rank = -1, tag = -1;  // -1: there is none, or nobody asks
  uint32_t width = 6;
  bool or_more = false;        // lines may be longer
  bool blank_lines = true;     // they are allowed
  bool comments = true;        // a line that starts with '#' is no data
  bool stray_returns = false;  // a carriage return inside a line is a blank like others
  bool keep_mark = false;      // a byte order mark is part of the first id
  bool whole_values = false;   // values are cut toward zero, as trec_eval reads grades
};

inline bool has_mark(const char* p) { return static_cast<unsigned char>(p[0]) == 0xef && p[1] == '\xbb' && p[2] == '\xbf'; }

class Lines {
 public:
  // `refill` is called before the buffer is overwritten: whoever points into it must let go.
  Lines(Source& source, const Layout& layout, bool at_start, std::function<void()> refill)
      : source_(source), layout_(layout), refill_(std::move(refill)), drop_mark_(at_start && !layout.keep_mark) {
    buffer_.resize(kChunk + kSlack);
  }

  // The next data line, or null at the end. Tokens are valid until the next refill.
  const Line* next() {
    for (;;) {
      while (next_ < limit_) {
        split_line(next_, line_);
        if (line_.odd) split_odd_line(line_, layout_.stray_returns && !first_line_);
        const char* start = next_;
        next_ = line_.next;
        first_line_ = false;
        if (is_data(start)) return &line_;
      }
      if (!fill()) return nullptr;
    }
  }

 private:
  static constexpr size_t kChunk = 1 << 20, kSlack = 2 * kBlock;

  bool is_data(const char* start) const {
    if (*start == '#' && layout_.comments) return false;
    const uint32_t tokens = line_.tokens();
    if (tokens == 0 && layout_.blank_lines) return false;
    if (tokens != layout_.width && !(layout_.or_more && tokens > layout_.width)) throw NotPlain();
    if (*start == '\xef' && !layout_.keep_mark && has_mark(start)) throw NotPlain();
    return true;
  }

  // Reads on behind the beginning of an unfinished line; false at the end of the source.
  bool fill() {
    if (ended_) return false;
    refill_();
    size_t kept = static_cast<size_t>(filled_ - limit_);
    if (kept) std::memmove(buffer_.data(), limit_, kept);
    for (;;) {
      if (kept + kSlack >= buffer_.size()) buffer_.resize(2 * buffer_.size());  // one line as long as the buffer
      const size_t got = source_.read(buffer_.data() + kept, buffer_.size() - kSlack - kept);
      ended_ = got == 0;
      if (ended_ && kept && buffer_[kept - 1] != '\n') buffer_[kept++] = '\n';
      const size_t whole = ended_ ? kept : whole_lines(kept, got);
      kept += got;
      if (whole || ended_) {
        set(whole, kept);
        return whole > 0;
      }
    }
  }

  // Up to where the buffer holds whole lines, if the new bytes end one.
  size_t whole_lines(size_t kept, size_t got) const {
    for (size_t end = kept + got; end > kept; end--) {
      if (buffer_[end - 1] == '\n') return end;
    }
    return 0;
  }

  void set(size_t whole, size_t filled) {
    std::memset(buffer_.data() + filled, ' ', kSlack - 1);
    next_ = buffer_.data();
    limit_ = next_ + whole;
    filled_ = buffer_.data() + filled;
    if (drop_mark_ && whole >= 3 && has_mark(next_)) next_ += 3;
    drop_mark_ = false;
  }

  Source& source_;
  const Layout layout_;
  std::function<void()> refill_;
  std::vector<char> buffer_;
  const char *next_ = nullptr, *limit_ = nullptr, *filled_ = nullptr;
  Line line_;
  bool ended_ = false, first_line_ = true, drop_mark_;
};

}  // namespace assay
