// Python objects for the kernel. Uses only the limited API, so that one build serves all versions from 3.11 on.
#pragma once

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <cstring>
#include <utility>

#include "bytes.hpp"
#include "outcome.hpp"

namespace assay {

// An owned reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* object) : object_(object) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  // The result of a call that returns null on failure.
  static Ref checked(PyObject* object) {
    if (!object) throw Stopped();
    return Ref(object);
  }

  // A new reference to an object that someone else owns.
  static Ref borrowed(PyObject* object) {
    Py_INCREF(object);
    return Ref(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

// Raises a ValueError for arguments that the Python modules in this folder never pass, rather than crash.
inline void require(bool holds, const char* words) {
  if (holds) return;
  PyErr_SetString(PyExc_ValueError, words);
  throw Stopped();
}

// The memory of an array, valid as long as the View exists.
class View {
 public:
  // `letters` are the formats of its values, as in Python's struct module: "d", "lq" or "O".
  View(PyObject* object, Py_ssize_t item_size, const char* letters) {
    if (PyObject_GetBuffer(object, &buffer_, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0) throw Stopped();
    const char* format = buffer_.format ? buffer_.format : "B";
    const bool fits = std::strlen(format) == 1 && std::strchr(letters, *format) && buffer_.itemsize == item_size;
    if (!fits) {
      PyBuffer_Release(&buffer_);
      PyErr_SetString(PyExc_TypeError, "an array of another type was expected");
      throw Stopped();
    }
  }
  ~View() { PyBuffer_Release(&buffer_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  template <class T>
  const T* data() const {
    return static_cast<const T*>(buffer_.buf);
  }
  size_t size() const { return static_cast<size_t>(buffer_.len / buffer_.itemsize); }

 private:
  Py_buffer buffer_;
};

// Releases the GIL while it exists.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { PyEval_RestoreThread(state_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  // Calls a function with the GIL held.
  template <class Function>
  auto with_python(Function function) {
    struct Relock {
      PyThreadState*& state;
      explicit Relock(PyThreadState*& state) : state(state) { PyEval_RestoreThread(state); }
      ~Relock() { state = PyEval_SaveThread(); }
    } relock(state_);
    return function();
  }

 private:
  PyThreadState* state_;
};

inline Ref text_of(Bytes bytes) {
  return Ref::checked(PyUnicode_DecodeUTF8(bytes.data, static_cast<Py_ssize_t>(bytes.size), "surrogateescape"));
}

// The bytes of an id as they were in the file. If they are not valid UTF-8, they are written to the arena.
inline Bytes bytes_of(PyObject* text, Arena& arena) {
  Py_ssize_t size = 0;
  if (const char* data = PyUnicode_AsUTF8AndSize(text, &size)) return {data, static_cast<size_t>(size)};
  PyErr_Clear();
  const Ref encoded(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
  char* data = nullptr;
  if (!encoded.get() || PyBytes_AsStringAndSize(encoded.get(), &data, &size) != 0) {
    PyErr_Clear();
    throw NotPlain();
  }
  const Bytes bytes = arena.copy({data, static_cast<size_t>(size)});
  if (PyUnicode_Compare(text_of(bytes).get(), text) != 0) throw NotPlain();  // surrogates that spell valid UTF-8
  return bytes;
}

}  // namespace assay
