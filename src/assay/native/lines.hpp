// The data lines of a text in columns, one after the other, from a buffer of constant size. Knows no ranking.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
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

// Which of the chosen columns a role has, or -1.
struct Roles {
  int query, doc, value, rank;
};

class Lines {
 public:
  // `refill` is called before the buffer is overwritten: whoever points into it must let go.
  Lines(Source& source, const Layout& layout, bool at_start, std::function<void()> refill)
      : source_(source), layout_(layout), refill_(std::move(refill)), drop_mark_(at_start && !layout.keep_mark) {
    choose();
    memory_.resize(kSlack + kChunk + kSlack, ' ');
  }

  const Roles& roles() const { return roles_; }

  // The next data line, or null at the end. Tokens are valid until the next refill.
  ASSAY_INLINE const Line* next() {
    for (;;) {
      while (next_ < limit_) {
        const char* start = next_;
        const bool plain = split_short_line(start, choice_, line_) && *start != '#' && *start != '\xef';
        const bool is_data = plain || split_any_line(start);
        next_ = line_.next;
        if (!is_data) continue;
        last_ = start;
        return &line_;
      }
      if (!fill()) return nullptr;
    }
  }

  // After the last line: its run tag, if there is such a column.
  const std::string& last_tag() const { return last_tag_; }

 private:
  static constexpr size_t kChunk = 1 << 20;
  static constexpr size_t kSlack = 2 * kBlock;  // before and behind the buffer: whoever looks at a token may look there

  char* buffer() { return memory_.data() + kSlack; }
  size_t room() const { return memory_.size() - 2 * kSlack; }

  // The columns that are wanted, from left to right.
  void choose() {
    roles_ = {-1, -1, -1, -1};
    choice_.width = layout_.width;
    for (int column = 0; column < static_cast<int>(layout_.width); column++) {
      int* role = column == layout_.query   ? &roles_.query
                  : column == layout_.doc   ? &roles_.doc
                  : column == layout_.value ? &roles_.value
                  : column == layout_.rank  ? &roles_.rank
                                            : nullptr;
      if (!role) continue;
      *role = static_cast<int>(choice_.count);
      choice_.columns[choice_.count++] = static_cast<uint32_t>(column);
    }
  }

  // Any line; false if it holds no data.
  bool split_any_line(const char* start) {
    split_line(start, tokens_);
    line_.start = start;
    line_.next = tokens_.next;
    if (tokens_.odd) split_odd_line(start, tokens_, layout_.stray_returns && !first_line_);
    first_line_ = false;
    if (*start == '#' && layout_.comments) return false;
    if (tokens_.count() == 0 && layout_.blank_lines) return false;
    const bool longer = layout_.or_more && tokens_.count() > layout_.width;
    if (tokens_.count() != layout_.width && !longer) throw NotPlain();
    if (!layout_.keep_mark && has_mark(start)) throw NotPlain();
    for (uint32_t i = 0; i < choice_.count; i++) {
      const uint32_t column = choice_.columns[i];
      line_.span[i] = {tokens_.edge[2 * column], tokens_.edge[2 * column + 1]};
    }
    return true;
  }

  // Reads on behind the beginning of an unfinished line; false at the end of the source.
  ASSAY_RARE bool fill() {
    remember_tag();
    if (ended_) return false;
    refill_();
    size_t kept = static_cast<size_t>(filled_ - limit_);
    if (kept) std::memmove(buffer(), limit_, kept);
    for (;;) {
      if (kept == room()) memory_.resize(memory_.size() + room());  // one line as long as the buffer
      const size_t got = source_.read(buffer() + kept, room() - kept);
      ended_ = got == 0;
      if (ended_ && kept && buffer()[kept - 1] != '\n') buffer()[kept++] = '\n';
      const size_t whole = ended_ ? kept : whole_lines(kept, got);
      kept += got;
      if (whole || ended_) {
        set(whole, kept);
        return whole > 0;
      }
    }
  }

  void remember_tag() {
    if (!last_ || layout_.tag < 0) return;
    split_line(last_, tokens_);
    if (tokens_.odd) split_odd_line(last_, tokens_, true);
    const auto tag = static_cast<size_t>(layout_.tag);
    last_tag_.assign(last_ + tokens_.edge[2 * tag], last_ + tokens_.edge[2 * tag + 1]);
    last_ = nullptr;
  }

  // Up to where the buffer holds whole lines, if the new bytes end one.
  size_t whole_lines(size_t kept, size_t got) {
    for (size_t end = kept + got; end > kept; end--) {
      if (buffer()[end - 1] == '\n') return end;
    }
    return 0;
  }

  void set(size_t whole, size_t filled) {
    std::memset(buffer() + filled, ' ', kSlack - 1);
    next_ = buffer();
    limit_ = next_ + whole;
    filled_ = buffer() + filled;
    if (drop_mark_ && whole >= 3 && has_mark(next_)) next_ += 3;
    drop_mark_ = false;
  }

  Source& source_;
  const Layout layout_;
  std::function<void()> refill_;
  std::vector<char> memory_;
  const char *next_ = nullptr, *limit_ = nullptr, *filled_ = nullptr;
  const char* last_ = nullptr;  // the last data line
  std::string last_tag_;
  Line line_;
  Tokens tokens_;
  Choice choice_;
  Roles roles_;
  bool ended_ = false, first_line_ = true, drop_mark_;
};

}  // namespace assay
