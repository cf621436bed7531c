// Reads the data lines of a text in columns, through a buffer of constant size. Independent of rankings.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "outcome.hpp"
#include "source.hpp"
#include "tokens.hpp"

namespace assay {

// Which column holds what, and what the dialect allows: see formats/dialects.py and formats/lines.py.
struct Layout {
  int query = 0, doc = 2, value = 4, rank = -1, tag = -1;  // -1: absent or not needed
  uint32_t width = 6;
  bool or_more = false;        // lines may be longer
  bool blank_lines = true;     // blank lines are allowed
  bool comments = true;        // a line that starts with '#' is a comment
  bool stray_returns = false;  // a carriage return inside a line counts as a blank
  bool keep_mark = false;      // a byte order mark is part of the first id
  bool whole_values = false;   // values are truncated toward zero, as trec_eval reads grades
  bool header = false;         // the first line names the columns
  bool tabs_only = false;      // only tabs separate columns; text with quotes or other blanks is not plain
};

// The Python readers know the limit for a line, which users can change, and report lines that are longer.
constexpr size_t kLongestLine = 1 << 24;

inline bool has_mark(const char* p) { return std::memcmp(p, "\xef\xbb\xbf", 3) == 0; }

// The memory through which a text is read: a quarter of a megabyte, and its index. Kept for the next text of the same
// thread, because getting the pages from the system takes a tenth of the time for a small file.
class TextBuffer {
 public:
  TextBuffer() : held_(std::move(spare_)) {
    if (!held_) held_ = std::make_unique<Held>();
    held_->index.clear();
  }
  ~TextBuffer() {
    if (held_->memory.size() == kUsual) spare_ = std::move(held_);  // but not one that grew for a long line
  }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  char* begin() { return held_->memory.data() + kSlack; }
  size_t room() const { return held_->memory.size() - 2 * kSlack; }
  void double_room() { held_->memory.resize(held_->memory.size() + room()); }
  TextIndex& index() { return held_->index; }

 private:
  static constexpr size_t kChunk = 1 << 18;     // about a megabyte with its index; more is not faster
  static constexpr size_t kSlack = 2 * kBlock;  // before and after: code that reads a token may read a little beyond it
  static constexpr size_t kUsual = kSlack + kChunk + kSlack;

  struct Held {
    std::vector<char> memory = std::vector<char>(kUsual, ' ');
    TextIndex index;
  };

  static inline thread_local std::unique_ptr<Held> spare_;
  std::unique_ptr<Held> held_;
};

class Lines {
 public:
  // `refill` is called before the buffer is overwritten, so that pointers into it can be dropped.
  Lines(Source& source, const Layout& layout, bool at_start, std::function<void()> refill)
      : source_(source), layout_(layout), refill_(std::move(refill)), at_start_(at_start) {
    if (layout.header && at_start) skip_line();
  }

  // The next data lines, several at a time; none at the end. Tokens are valid until the next refill.
  ASSAY_INLINE LineBatch next_batch() {
    for (;;) {
      while (blank_ < index_.end()) {
        const LineBatch batch{text_, blank_, layout_.width, regular_ ? plain_lines() : 0};
        if (batch.count) {
          blank_ += batch.count * layout_.width;
          last_ = blank_ - layout_.width;
          return batch;
        }
        if (const uint32_t* line = next_uncertain()) return {text_, line, 0, 1};
      }
      if (!fill()) return {};
    }
  }

  // The next data line, or null at the end.
  ASSAY_INLINE const Line* next() {
    if (taken_ == batch_.count) {
      batch_ = next_batch();
      taken_ = 0;
      if (!batch_.count) return nullptr;
    }
    line_ = batch_[taken_++];
    return &line_;
  }

  // After the last line: its run tag, if the layout has that column.
  const std::string& last_tag() const { return last_tag_; }

 private:
  // Skips the first data line.
  void skip_line() {
    for (bool skipped = false; !skipped && (blank_ < index_.end() || fill());) {
      if (blank_ < index_.end()) skipped = next_uncertain();  // a text of only blanks has no lines
    }
  }

  // In a regular text: how many of the next lines certainly hold data.
  ASSAY_INLINE uint32_t plain_lines() const {
    const auto left = static_cast<size_t>(index_.end() - blank_) / layout_.width;
    const auto most = static_cast<uint32_t>(std::min<size_t>(left, LineBatch::kMost));
    for (uint32_t i = 0; i < most; i++) {
      const char first = text_[blank_[i * layout_.width] + 1];
      if (first == '#' || first == '\xef') return i;
    }
    return most;
  }

  // Takes a line of any kind: its position in the index, or null if it holds no data.
  ASSAY_RARE const uint32_t* next_uncertain() {
    const uint32_t* line = blank_++;
    while (text_[*blank_] != '\n') blank_++;
    const Bytes first = Line{text_, line}.token(0);
    if (*first.data == '#' && layout_.comments) return nullptr;
    const auto width = static_cast<uint32_t>(blank_ - line);
    if (width != layout_.width && !(layout_.or_more && width > layout_.width)) throw NotPlain();
    if (!layout_.keep_mark && has_mark(first.data)) throw NotPlain();
    last_ = line;
    return line;
  }

  // Reads more text after an unfinished line; false at the end of the source.
  ASSAY_RARE bool fill() {
    remember_tag();
    if (ended_) return false;
    refill_();
    if (unfinished_) std::memmove(buffer_.begin(), buffer_.begin() + whole_, unfinished_);
    size_t filled = unfinished_;
    for (;;) {
      if (filled == buffer_.room()) {  // one line fills the buffer
        if (filled > kLongestLine) throw NotPlain();
        buffer_.double_room();
      }
      const size_t got = source_.read(buffer_.begin() + filled, buffer_.room() - filled);
      ended_ = got == 0;
      if (ended_ && filled && buffer_.begin()[filled - 1] != '\n') buffer_.begin()[filled++] = '\n';
      whole_ = ended_ ? filled : whole_lines(filled, got);
      filled += got;
      if (whole_ || ended_) break;
    }
    unfinished_ = filled - whole_;
    if (!whole_) return false;  // nothing at all, as when a thread's part is empty
    if (whole_ >= TextIndex::kBefore - kBlock) throw NotPlain();
    start_text();
    return true;
  }

  // The end of the last whole line in the buffer, or 0 if the new bytes do not end one.
  size_t whole_lines(size_t filled, size_t got) {
    for (size_t end = filled + got; end > filled; end--) {
      if (buffer_.begin()[end - 1] == '\n') return end;
    }
    return 0;
  }

  void start_text() {
    const bool marked = at_start_ && !layout_.keep_mark && whole_ >= 3 && has_mark(buffer_.begin());
    char* text = buffer_.begin() + (marked ? 3 : 0);
    const size_t size = whole_ - (marked ? 3 : 0);
    refuse_control_characters(text, size);
    at_start_ = false;
    if (!index_.build(text, size)) index_.build(text, squeeze(text, size));
    text_ = text;
    blank_ = index_.begin();
    regular_ = is_regular();
  }

  // Whether every line has the width of the layout, so that lines need no check one by one.
  bool is_regular() const {
    const auto blanks = static_cast<size_t>(index_.end() - index_.begin());
    if (blanks != index_.lines() * layout_.width) return false;
    bool regular = true;
    for (size_t i = layout_.width; i <= blanks; i += layout_.width) regular &= text_[index_.begin()[i]] == '\n';
    return regular;
  }

  // Reduces each run of blanks to one, a line feed if the run has one, and drops those at the start of the text.
  // Returns the new size.
  size_t squeeze(char* text, size_t size) const {
    char* out = text;
    size_t moved = 0;  // how much of the text has been copied
    for (const uint32_t *first = index_.begin(), *last; first <= index_.end(); first = last + 1) {
      for (last = first; last < index_.end() && last[1] == *last + 1;) last++;
      if (last == first) continue;
      const bool at_begin = first == index_.begin();
      const Bytes run{text + (at_begin ? 0 : *first), *last + 1 - (at_begin ? 0 : *first)};
      const auto feeds = std::count(run.data, run.end(), '\n');
      refuse_blanks(run, feeds, at_begin);
      const size_t before = static_cast<size_t>(run.data - text) - moved;
      std::memmove(out, text + moved, before);
      out += before;
      if (!at_begin) *out++ = feeds ? '\n' : *run.data;
      moved = *last + 1;
    }
    std::memmove(out, text + moved, size - moved);
    return static_cast<size_t>(out - text) + size - moved;
  }

  // Refuses what squeezing would lose: blank lines and empty columns that matter, and blanks before a '#', which make
  // the line data rather than a comment.
  void refuse_blanks(Bytes run, std::ptrdiff_t feeds, bool at_begin) const {
    const char* last = run.end() - 1;
    if (feeds + at_begin > 1 && !layout_.blank_lines) throw NotPlain();
    if ((feeds || at_begin) && *last != '\n' && run.end()[0] == '#') throw NotPlain();
    if (!layout_.tabs_only) return;
    for (const char* p = run.data; p <= last; p++) {
      const bool ends_line = *p == '\n' || (*p == '\r' && p < last && p[1] == '\n');
      if (!ends_line) throw NotPlain();
    }
  }

  // No id or number contains NUL. A carriage return without a line feed is refused; where the dialect allows it, only
  // the first line is checked, because the text may have no line feeds at all (old Mac line ends).
  void refuse_control_characters(const char* text, size_t size) const {
    const auto holds = [text, size](char c) { return std::memchr(text, c, size) != nullptr; };
    if (holds('\0')) throw NotPlain();
    if (layout_.tabs_only && (holds(' ') || holds('"') || holds('\v') || holds('\f'))) throw NotPlain();
    if (layout_.stray_returns) {
      if (!at_start_) return;
      const void* feed = std::memchr(text, '\n', size);
      size = feed ? static_cast<size_t>(static_cast<const char*>(feed) - text) + 1 : size;
    }
    const char* end = text + size;
    for (const char* p = text; (p = static_cast<const char*>(std::memchr(p, '\r', static_cast<size_t>(end - p))));
         p++) {
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
  TextBuffer buffer_;
  const char* text_ = nullptr;
  size_t whole_ = 0, unfinished_ = 0;  // bytes in the buffer: of whole lines, and of the unfinished line after them
  TextIndex& index_ = buffer_.index();
  const uint32_t* blank_ = nullptr;  // the blank before the next line
  bool regular_ = false;
  const uint32_t* last_ = nullptr;  // the blank before the last data line
  std::string last_tag_;
  LineBatch batch_;  // next() has returned the first `taken_` lines of it
  uint32_t taken_ = 0;
  Line line_;
  bool at_start_, ended_ = false;
};

}  // namespace assay
