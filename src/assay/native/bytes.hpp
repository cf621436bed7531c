// Ids as bytes: compare, hash and store them. Independent of files and rankings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

// For the few functions that run once per line, where a call would pass the values through memory.
#if defined(__GNUC__) || defined(__clang__)
#define ASSAY_INLINE inline __attribute__((always_inline))
#define ASSAY_RARE __attribute__((noinline, cold))
#define ASSAY_FETCH(place) __builtin_prefetch(place)
#else
#define ASSAY_INLINE inline
#define ASSAY_RARE
#define ASSAY_FETCH(place) static_cast<void>(place)
#endif

namespace assay {

constexpr size_t kCacheLine = 64;

// Prefetches memory that is about to be read in random order: the processor predicts only sequential reads.
template <class T>
void fetch(const T* first, size_t count) {
  for (size_t i = 0; i < count; i += kCacheLine / sizeof(T)) ASSAY_FETCH(first + i);
}

// A view of memory owned by someone else.
struct Bytes {
  const char* data = nullptr;
  size_t size = 0;

  const char* end() const { return data + size; }
};

inline uint64_t load8(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline uint64_t load4(const char* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Most ids have 4 to 16 bytes: two loads, which may overlap, cover them without a loop.
ASSAY_INLINE bool equal(Bytes a, Bytes b) {
  if (a.size != b.size) return false;
  const size_t n = a.size;
  if (n > 16 || n < 4) return std::memcmp(a.data, b.data, n) == 0;
  if (n >= 8) return ((load8(a.data) ^ load8(b.data)) | (load8(a.data + n - 8) ^ load8(b.data + n - 8))) == 0;
  return ((load4(a.data) ^ load4(b.data)) | (load4(a.data + n - 4) ^ load4(b.data + n - 4))) == 0;
}

// Byte order, as trec_eval's strcmp has it.
inline int compare(Bytes a, Bytes b) {
  const int order = std::memcmp(a.data, b.data, std::min(a.size, b.size));
  if (order != 0) return order;
  return a.size < b.size ? -1 : a.size > b.size;
}

inline uint64_t mixed(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  const uint64_t high = (a >> 32) * (b >> 32), low = a * b;
  return low ^ (high * 0x9e3779b97f4a7c15ull) ^ (a >> 29) ^ (b >> 31);
#endif
}

// Random in each process, so that nobody can prepare a file whose ids all collide. No result depends on it.
inline const uint64_t hash_seed = (static_cast<uint64_t>(std::random_device{}()) << 32) ^ std::random_device{}();

ASSAY_INLINE uint64_t hash(Bytes id) {
  constexpr uint64_t kOne = 0xa0761d6478bd642full, kTwo = 0xe7037ed1a0b428dbull;
  const char* p = id.data;
  size_t n = id.size;
  uint64_t state = hash_seed ^ n;
  while (n > 16) {
    state = mixed(load8(p) ^ state ^ kOne, load8(p + 8) ^ kTwo);
    p += 16;
    n -= 16;
  }
  uint64_t first = 0, last = 0;
  if (n >= 8) {
    first = load8(p), last = load8(p + n - 8);
  } else if (n >= 4) {
    first = load4(p), last = load4(p + n - 4);
  } else if (n > 0) {
    const auto byte = [p](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(p[i])); };
    first = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  }
  return mixed(first ^ state ^ kOne, last ^ kTwo);
}

// A vector of trivially copyable values. push() takes its value in registers, whereas std::vector::push_back() takes a
// reference and so goes through memory, which costs a tenth of the time per line. realloc() can grow it in place or by
// remapping pages, whereas std::vector allocates and copies.
template <class T>
class Rows {
  static_assert(std::is_trivially_copyable<T>::value, "moved as bytes");

 public:
  Rows() = default;
  Rows(Rows&& other) noexcept { swap(other); }
  Rows& operator=(Rows&& other) noexcept {
    Rows taken(std::move(other));
    swap(taken);
    return *this;
  }

  ASSAY_INLINE void push(T value) {
    if (size_ == capacity_) grow();
    data_.get()[size_++] = value;
  }
  void append(const T* values, size_t count) {
    while (capacity_ - size_ < count) grow();
    if (count) std::memcpy(static_cast<void*>(end()), values, count * sizeof(T));
    size_ += count;
  }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void shorten(size_t size) { size_ = size; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

 private:
  void swap(Rows& other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  ASSAY_RARE void grow() {
    const size_t capacity = capacity_ ? 2 * capacity_ : 1024;
    void* larger = std::realloc(static_cast<void*>(data_.get()), capacity * sizeof(T));
    if (!larger) throw std::bad_alloc();
    (void)data_.release();
    data_.reset(static_cast<T*>(larger));
    capacity_ = capacity;
  }

  std::unique_ptr<T, Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

// Stores copies of ids. A copy keeps its address until the arena is cleared or destroyed.
class Arena {
 public:
  Bytes copy(Bytes id) {
    if (id.size > free_) make_room(id.size);
    char* place = next_;
    if (id.size) std::memcpy(place, id.data, id.size);
    next_ += id.size;
    free_ -= id.size;
    return {place, id.size};
  }

  // Frees all ids but keeps the first block, which the next query needs again.
  void clear() {
    if (blocks_.size() > 1) blocks_.resize(1);
    next_ = blocks_.empty() ? nullptr : blocks_[0].get();
    free_ = blocks_.empty() ? 0 : first_size_;
  }

 private:
  static constexpr size_t kBlock = 1 << 18;

  void make_room(size_t needed) {
    const size_t size = std::max(needed, kBlock);
    if (blocks_.empty()) first_size_ = size;
    blocks_.emplace_back(new char[size]);  // make_unique would zero it
    next_ = blocks_.back().get();
    free_ = size;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t free_ = 0, first_size_ = 0;
};

}  // namespace assay
