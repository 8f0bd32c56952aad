// What libc does, told first: the names below are libc's own, and the linker gives them to LMDB and to Swift's library, too.

#define _GNU_SOURCE
#include "WriteRecorder.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTORS = 4096, FILES = 65536 };

static bool recording;
static char root[PATH_MAX];
static recorded_event *events;
static int64_t count, room;
/// Number of the open file, or -1 for a folder; 0 for what is not recorded.
static int32_t files[DESCRIPTORS];
static bool durables[DESCRIPTORS];
static char *folders[DESCRIPTORS];
/// Name of each file by its number; `NULL` without a name.
static char *names[FILES];
static int32_t named = 1;

static void add(recorded_event event) {
    if (count == room) {
        room = room ? 2 * room : 4096;
        events = realloc(events, (size_t)room * sizeof *events);
        if (!events) abort();
    }
    events[count++] = event;
}

static bool below(const char *path) {
    size_t length = strlen(root);
    return recording && strncmp(path, root, length) == 0 && (path[length] == '/' || !path[length]);
}

static int32_t number(const char *path) {
    for (int32_t file = 1; file < named; file++)
        if (names[file] && strcmp(names[file], path) == 0) return file;
    return 0;
}

static bool seen(int descriptor) { return recording && descriptor >= 0 && descriptor < DESCRIPTORS && files[descriptor] != 0; }

static void written(int descriptor, const void *bytes, ssize_t length, off_t offset) {
    if (length <= 0 || !seen(descriptor)) return;
    uint8_t *copy = malloc((size_t)length);
    if (!copy) abort();
    memcpy(copy, bytes, (size_t)length);
    add((recorded_event){RECORDED_WRITE, files[descriptor], durables[descriptor], offset, length, copy, NULL, NULL});
}

static void opened(int descriptor, int flags, bool existed) {
    if (!recording || descriptor < 0 || descriptor >= DESCRIPTORS) return;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    if (!below(path)) return;
    struct stat status;
    if (fstat(descriptor, &status) != 0) return;
    if (S_ISDIR(status.st_mode)) {
        files[descriptor] = -1;
        folders[descriptor] = strdup(path);
        return;
    }
    int32_t file = number(path);
    if (!existed || file == 0) {
        if (named == FILES) abort();
        file = named++;
        names[file] = strdup(path);
        add((recorded_event){RECORDED_CREATE, file, 0, 0, 0, NULL, strdup(path), NULL});
    } else if (flags & O_TRUNC) {
        add((recorded_event){RECORDED_LENGTH, file, 0, 0, 0, NULL, NULL, NULL});
    }
    files[descriptor] = file;
    durables[descriptor] = (flags & O_DSYNC) != 0;
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    bool existed = !recording || syscall(SYS_faccessat, folder, path, F_OK) == 0;
    int descriptor = (int)syscall(SYS_openat, folder, path, flags, mode);
    int saved = errno;
    opened(descriptor, flags, existed);
    errno = saved;
    return descriptor;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    return open_at(folder, path, flags, mode);
}

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        files[descriptor] = 0;
        durables[descriptor] = false;
        free(folders[descriptor]);
        folders[descriptor] = NULL;
    }
    return (int)syscall(SYS_close, descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    off_t offset = seen(descriptor) ? syscall(SYS_lseek, descriptor, 0, SEEK_CUR) : 0;
    ssize_t done = syscall(SYS_write, descriptor, bytes, length);
    written(descriptor, bytes, done, offset);
    return done;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    ssize_t done = syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    written(descriptor, bytes, done, offset);
    return done;
}
ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return pwrite64(descriptor, bytes, length, offset);
}

/// The pieces of one call, as pieces: what was written together may be lost apart.
static void written_pieces(int descriptor, const struct iovec *pieces, int many, ssize_t done, off_t offset) {
    for (int index = 0; index < many && done > 0; index++) {
        ssize_t length = (ssize_t)pieces[index].iov_len < done ? (ssize_t)pieces[index].iov_len : done;
        written(descriptor, pieces[index].iov_base, length, offset);
        offset += length;
        done -= length;
    }
}

ssize_t writev(int descriptor, const struct iovec *pieces, int many) {
    off_t offset = seen(descriptor) ? syscall(SYS_lseek, descriptor, 0, SEEK_CUR) : 0;
    ssize_t done = syscall(SYS_writev, descriptor, pieces, many);
    written_pieces(descriptor, pieces, many, done, offset);
    return done;
}
ssize_t pwritev64(int descriptor, const struct iovec *pieces, int many, off64_t offset) {
    ssize_t done = syscall(SYS_pwritev, descriptor, pieces, many, offset, 0);
    written_pieces(descriptor, pieces, many, done, offset);
    return done;
}
ssize_t pwritev(int descriptor, const struct iovec *pieces, int many, off_t offset) {
    return pwritev64(descriptor, pieces, many, offset);
}

int ftruncate64(int descriptor, off64_t length) {
    int result = (int)syscall(SYS_ftruncate, descriptor, length);
    if (result == 0 && seen(descriptor))
        add((recorded_event){RECORDED_LENGTH, files[descriptor], 0, length, 0, NULL, NULL, NULL});
    return result;
}
int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

static int synced(int descriptor, int result) {
    if (result == 0 && seen(descriptor)) {
        bool isFolder = files[descriptor] < 0;
        const char *path = isFolder ? strdup(folders[descriptor]) : NULL;
        int32_t kind = isFolder ? RECORDED_SYNC_NAMES : RECORDED_SYNC;
        add((recorded_event){kind, files[descriptor], 0, 0, 0, NULL, path, NULL});
    }
    return result;
}
int fsync(int descriptor) { return synced(descriptor, (int)syscall(SYS_fsync, descriptor)); }
int fdatasync(int descriptor) { return synced(descriptor, (int)syscall(SYS_fdatasync, descriptor)); }

int rename(const char *from, const char *to) {
    int result = (int)syscall(SYS_rename, from, to);
    if (result == 0 && below(from)) {
        int32_t file = number(from), replaced = number(to);
        if (replaced) names[replaced] = NULL;
        if (file) names[file] = strdup(to);
        add((recorded_event){RECORDED_RENAME, file, 0, 0, 0, NULL, strdup(from), strdup(to)});
    }
    return result;
}

int unlink(const char *path) {
    int result = (int)syscall(SYS_unlink, path);
    if (result == 0 && below(path)) {
        int32_t file = number(path);
        names[file] = NULL;
        add((recorded_event){RECORDED_UNLINK, file, 0, 0, 0, NULL, strdup(path), NULL});
    }
    return result;
}

int mkdir(const char *path, mode_t mode) {
    int result = (int)syscall(SYS_mkdir, path, mode);
    if (result == 0 && below(path)) add((recorded_event){RECORDED_MKDIR, 0, 0, 0, 0, NULL, strdup(path), NULL});
    return result;
}

void recorder_begin(const char *folder) {
    snprintf(root, sizeof root, "%s", folder);
    recording = true;
}
void recorder_end(void) { recording = false; }
int64_t recorder_count(void) { return count; }
recorded_event recorder_event(int64_t index) { return events[index]; }

int64_t *recorder_shared(int64_t many) {
    void *memory = mmap(NULL, (size_t)many * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
pid_t recorder_fork(void) {
    pid_t child = fork();
    if (child != 0) return child;
    // Swift would describe each end by a signal, which is the parent's to tell.
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    int nowhere = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    return 0;
}
void recorder_exit(int code) { _exit(code); }
pid_t recorder_wait(int *signal) {
    int status = 0;
    pid_t child = waitpid(-1, &status, 0);
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : WIFEXITED(status) && WEXITSTATUS(status) ? -1 : 0;
    return child;
}
void recorder_limit(unsigned seconds) { alarm(seconds); }
