// The ways in which the kernel can stop before it has finished.
#pragma once

#include <exception>

namespace assay {

// The input is not plain: it may be wrong, or valid in a way that only the Python readers support. They read it again
// from the start and report what is wrong, with file and line. So plain input pays nothing for good error messages.
struct NotPlain : std::exception {
  const char* what() const noexcept override { return "not plain input"; }
};

// A query continues after another one has begun: the run must be gathered in memory first.
struct Interleaved : std::exception {
  const char* what() const noexcept override { return "interleaved queries"; }
};

// A Python exception is set, or another thread has failed.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

}  // namespace assay
