// The data lines of a text in columns, one after the other, from a buffer of constant size. Knows no ranking.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

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
  bool header = false;         // the first line names the columns
  bool tabs_only = false;      // only tabs end a column, and quotes mean something: a text with others is not plain
};

inline bool has_mark(const char* p) { return std::memcmp(p, "\xef\xbb\xbf", 3) == 0; }

class Lines {
 public:
  // `refill` is called before the buffer is overwritten: whoever points into it must let go.
  Lines(Source& source, const Layout& layout, bool at_start, std::function<void()> refill)
      : source_(source), layout_(layout), refill_(std::move(refill)), at_start_(at_start) {
    memory_.resize(kSlack + kChunk + kSlack, ' ');
    if (layout.header && at_start) next();
  }

  // The next data line, or null at the end. Tokens are valid until the next refill.
  ASSAY_INLINE const Line* next() {
    for (;;) {
      while (*feed_ != TextIndex::kEnd) {
        const uint32_t start = line_start_, end = *feed_++;
        const char first = text_[start];
        line_.edges = edge_;
        line_start_ = end + 1;
        const uint32_t* behind = edge_ + 2 * layout_.width;
        if (behind[-1] <= end && *behind > end && first != '#' && first != '\xef' && !layout_.tabs_only) {
          edge_ = behind;
          last_ = line_.edges;
          return &line_;
        }
        if (is_data(start, end)) {  // few lines are not like the one above
          last_ = line_.edges;
          return &line_;
        }
      }
      if (!fill()) return nullptr;
    }
  }

  // After the last line: its run tag, if there is such a column.
  const std::string& last_tag() const { return last_tag_; }

 private:
  static constexpr size_t kChunk = 1 << 18;     // with its index, about a megabyte; more is not faster
  static constexpr size_t kSlack = 2 * kBlock;  // before and behind the buffer: whoever looks at a token may look there

  char* buffer() { return memory_.data() + kSlack; }
  size_t room() const { return memory_.size() - 2 * kSlack; }

  // Takes the tokens up to the end of any line; false if it holds no data.
  bool is_data(uint32_t start, uint32_t end) {
    while (*edge_ <= end) edge_++;
    const auto tokens = static_cast<size_t>(edge_ - line_.edges) / 2;
    if (text_[start] == '#' && layout_.comments) return false;
    if (layout_.tabs_only && !one_tab_apart(start, end)) throw NotPlain();
    if (tokens == 0 && layout_.blank_lines) return false;
    if (tokens != layout_.width && !(layout_.or_more && tokens > layout_.width)) throw NotPlain();
    if (!layout_.keep_mark && has_mark(text_ + line_.edges[0])) throw NotPlain();
    return true;
  }

  // Whether no field of the line is empty: two tabs with nothing between them are not one.
  bool one_tab_apart(uint32_t start, uint32_t end) const {
    uint32_t expected = start;
    for (const uint32_t* edge = line_.edges; edge < edge_; edge += 2) {
      if (edge[0] != expected) return false;
      expected = edge[1] + 1;
    }
    const uint32_t behind = line_.edges < edge_ ? expected - 1 : start;
    return text_[behind] == '\n' || (text_[behind] == '\r' && behind + 1 == end);
  }

  // Reads on behind the beginning of an unfinished line; false at the end of the source.
  ASSAY_RARE bool fill() {
    remember_tag();
    if (ended_) return false;
    refill_();
    if (unfinished_) std::memmove(buffer(), buffer() + whole_, unfinished_);
    size_t filled = unfinished_;
    for (;;) {
      if (filled == room()) memory_.resize(memory_.size() + room());  // one line as long as the buffer
      const size_t got = source_.read(buffer() + filled, room() - filled);
      ended_ = got == 0;
      if (ended_ && filled && buffer()[filled - 1] != '\n') buffer()[filled++] = '\n';
      whole_ = ended_ ? filled : whole_lines(filled, got);
      filled += got;
      if (whole_ || ended_) break;
    }
    unfinished_ = filled - whole_;
    if (!whole_) return false;  // nothing at all, as in the part of a thread that got none
    if (whole_ >= TextIndex::kEnd - kBlock) throw NotPlain();
    start_text();
    return true;
  }

  // Up to where the buffer holds whole lines, if the new bytes end one.
  size_t whole_lines(size_t filled, size_t got) {
    for (size_t end = filled + got; end > filled; end--) {
      if (buffer()[end - 1] == '\n') return end;
    }
    return 0;
  }

  void start_text() {
    const bool marked = at_start_ && !layout_.keep_mark && whole_ >= 3 && has_mark(buffer());
    text_ = buffer() + (marked ? 3 : 0);
    const size_t size = whole_ - (marked ? 3 : 0);
    refuse_control_characters(size);
    at_start_ = false;
    index_.build(text_, size);
    line_.text = text_;
    edge_ = index_.edges();
    feed_ = index_.feeds();
    line_start_ = 0;
  }

  // No id or number has NUL. A carriage return before another character would swallow what follows; where the dialect
  // allows that, one in the first line may still be that of a text without line feeds.
  void refuse_control_characters(size_t size) const {
    const auto holds = [this, size](char c) { return std::memchr(text_, c, size) != nullptr; };
    if (holds('\0')) throw NotPlain();
    if (layout_.tabs_only && (holds(' ') || holds('"') || holds('\v') || holds('\f'))) throw NotPlain();
    if (layout_.stray_returns) {
      if (!at_start_) return;
      const void* feed = std::memchr(text_, '\n', size);
      size = feed ? static_cast<size_t>(static_cast<const char*>(feed) - text_) + 1 : size;
    }
    const char* end = text_ + size;
    for (const char* p = text_; (p = static_cast<const char*>(std::memchr(p, '\r', static_cast<size_t>(end - p)))); p++) {
      if (p[1] != '\r' && p[1] != '\n') throw NotPlain();
    }
  }

  void remember_tag() {
    if (!last_ || layout_.tag < 0) return;
    const Bytes tag = Line{text_, last_}.token(layout_.tag);
    last_tag_.assign(tag.data, tag.size);
    last_ = nullptr;
  }

  Source& source_;
  const Layout layout_;
  std::function<void()> refill_;
  std::vector<char> memory_;
  const char* text_ = nullptr;
  size_t whole_ = 0, unfinished_ = 0;  // bytes in the buffer: of whole lines, and of the one behind them
  TextIndex index_;
  const uint32_t* edge_ = nullptr;
  const uint32_t* feed_ = &TextIndex::kNothing;
  uint32_t line_start_ = 0;
  const uint32_t* last_ = nullptr;  // the edges of the last data line
  std::string last_tag_;
  Line line_;
  bool at_start_, ended_ = false;
};

}  // namespace assay
