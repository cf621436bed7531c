/* Faults of the file system, between a program and its C library: loaded with LD_PRELOAD.

   Every call that changes files below $FAULT_ROOT is a point, numbered from 1 in each process. Point $FAULT_AT fails as
   $FAULT_KIND says: with an error number, "short" (only a part of the data is written, and then the disk is full) or
   "kill" (the process ends just before the call, as by SIGKILL). $FAULT_LOG gets a line for each point.

   Whatever writes is included, in Python, C++ or Rust, and the program is not changed for it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int points;
static atomic_int full; /* after a short write */

enum answer { GO_ON, FAIL, SHORT };

/* The path of a file relative to a folder that is open. */
static int place_of(int folder, const char *path, char *place) {
  char link[64];
  ssize_t length = 0;
  if (path == NULL || path[0] != '/') {
    if (folder == AT_FDCWD)
      snprintf(link, sizeof link, "/proc/self/cwd");
    else
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    length = readlink(link, place, PATH_MAX - 1);
    if (length < 0) return 0;
  }
  place[length] = 0;
  if (path != NULL && strlen(path) + length + 2 < PATH_MAX) {
    if (length) strcat(place, "/");
    strcat(place, path);
  }
  return 1;
}

/* What is to happen at this call. `mendable` is 0 for calls that only remove: those never fail, only the process may end. */
static enum answer meet(const char *call, int folder, const char *path, int mendable) {
  const char *root = getenv("FAULT_ROOT"), *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
  char place[PATH_MAX];
  int saved = errno;
  if (root == NULL || at == NULL || kind == NULL || !place_of(folder, path, place)) goto pass;
  if (strncmp(place, root, strlen(root)) != 0) goto pass;
  int killing = strcmp(kind, "kill") == 0, writing = strcmp(call, "write") == 0;
  if (!killing && !mendable) goto pass;
  if (strcmp(kind, "short") == 0 && !writing) goto pass;
  if (full && writing) {
    errno = ENOSPC;
    return FAIL;
  }
  if (strcmp(call, "mkdir") == 0 && syscall(SYS_faccessat, AT_FDCWD, place, F_OK) == 0) goto pass; /* it is there */
  int now = ++points, hit = now == atoi(at);
  const char *log = getenv("FAULT_LOG");
  if (log != NULL) {
    int to = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s%d %s %s\n", hit ? "! " : "", now, call, place);
    if (to >= 0) {
      syscall(SYS_write, to, line, length);
      syscall(SYS_close, to);
    }
  }
  if (!hit) goto pass;
  if (killing) {
    raise(SIGKILL);
    pause();
  }
  if (strcmp(kind, "short") == 0) {
    full = 1;
    return SHORT;
  }
  errno = atoi(kind);
  return FAIL;
pass:
  errno = saved;
  return GO_ON;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size) {
  enum answer answer = meet("write", file, NULL, 1);
  if (answer == FAIL) return -1;
  return REAL(write)(file, data, answer == SHORT ? size / 2 : size);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  enum answer answer = meet("write", file, NULL, 1);
  if (answer == FAIL) return -1;
  if (answer == SHORT) return REAL(write)(file, parts->iov_base, parts->iov_len / 2);
  return REAL(writev)(file, parts, count);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t place) {
  enum answer answer = meet("write", file, NULL, 1);
  if (answer == FAIL) return -1;
  return REAL(pwrite64)(file, data, answer == SHORT ? size / 2 : size, place);
}

/* Nothing is flushed in truth: the machine does not lose power during a test. */
int fsync(int file) { return meet("flush", file, NULL, 1) ? -1 : 0; }
int fdatasync(int file) { return meet("flush", file, NULL, 1) ? -1 : 0; }
int ftruncate64(int file, off64_t size) { return meet("cut", file, NULL, 1) ? -1 : REAL(ftruncate64)(file, size); }

#define FOR_WRITING(flags) (((flags) & O_ACCMODE) != O_RDONLY || ((flags) & O_CREAT))
#define MODE(flags, mode)                            \
  mode_t mode = 0;                                   \
  if ((flags) & (O_CREAT | O_TMPFILE)) {             \
    va_list rest;                                    \
    va_start(rest, flags);                           \
    mode = va_arg(rest, mode_t);                     \
    va_end(rest);                                    \
  }
#define OPEN(name)                                                                  \
  int name(const char *path, int flags, ...) {                                      \
    MODE(flags, mode)                                                               \
    if (FOR_WRITING(flags) && meet("open", AT_FDCWD, path, 1)) return -1;           \
    return REAL(name)(path, flags, mode);                                           \
  }
#define OPENAT(name)                                                                \
  int name(int folder, const char *path, int flags, ...) {                          \
    MODE(flags, mode)                                                               \
    if (FOR_WRITING(flags) && meet("open", folder, path, 1)) return -1;             \
    return REAL(name)(folder, path, flags, mode);                                   \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

FILE *fopen64(const char *path, const char *mode) {
  return mode[0] != 'r' && meet("open", AT_FDCWD, path, 1) ? NULL : REAL(fopen64)(path, mode);
}

/* The folder that a file is renamed to or linked in. */
int rename(const char *from, const char *to) {
  return meet("rename", AT_FDCWD, to, 1) ? -1 : REAL(rename)(from, to);
}
int renameat(int one, const char *from, int other, const char *to) {
  return meet("rename", other, to, 1) ? -1 : REAL(renameat)(one, from, other, to);
}
int renameat2(int one, const char *from, int other, const char *to, unsigned flags) {
  return meet("swap", other, to, 1) ? -1 : REAL(renameat2)(one, from, other, to, flags);
}
int link(const char *from, const char *to) { return meet("link", AT_FDCWD, to, 1) ? -1 : REAL(link)(from, to); }
int linkat(int one, const char *from, int other, const char *to, int flags) {
  return meet("link", other, to, 1) ? -1 : REAL(linkat)(one, from, other, to, flags);
}
int mkdir(const char *path, mode_t mode) { return meet("mkdir", AT_FDCWD, path, 1) ? -1 : REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) {
  return meet("mkdir", folder, path, 1) ? -1 : REAL(mkdirat)(folder, path, mode);
}
int chmod(const char *path, mode_t mode) { return meet("chmod", AT_FDCWD, path, 1) ? -1 : REAL(chmod)(path, mode); }
int unlink(const char *path) { return meet("remove", AT_FDCWD, path, 0) ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) {
  return meet("remove", folder, path, 0) ? -1 : REAL(unlinkat)(folder, path, flags);
}
int rmdir(const char *path) { return meet("remove", AT_FDCWD, path, 0) ? -1 : REAL(rmdir)(path); }
