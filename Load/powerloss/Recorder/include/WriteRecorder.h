#pragma once
#include <stdint.h>
#include <sys/types.h>

// Calls of this process that change files below one folder, in order. The recorder stands in for libc's calls, for the program itself and
// for the libraries that are linked with it. One thread at a time may write below the folder.

enum {
    RECORDED_CREATE = 1, ///< A name in a folder, and an empty file.
    RECORDED_WRITE,      ///< Bytes at an offset; durable on return if `durable`.
    RECORDED_LENGTH,     ///< Another length, which is the offset.
    RECORDED_SYNC,       ///< What was written to the file is durable.
    RECORDED_SYNC_NAMES, ///< The names in the folder are durable.
    RECORDED_RENAME,     ///< `path` becomes `other`.
    RECORDED_UNLINK,
    RECORDED_MKDIR,
};

typedef struct {
    int32_t kind;
    /// Number of the file, whatever its name.
    int32_t file;
    int32_t durable;
    int64_t offset;
    int64_t length;
    const uint8_t *bytes;
    const char *path;
    const char *other;
} recorded_event;

/// Begins to record what happens below a folder, whose path has no symbolic links.
void recorder_begin(const char *folder);
void recorder_end(void);
int64_t recorder_count(void);
recorded_event recorder_event(int64_t index);

/// Memory that children share, zeroed.
int64_t *recorder_shared(int64_t count);
/// Makes a child, which is silent if a signal ends it.
pid_t recorder_fork(void);
/// Ends the process, with no regard for what the parent has registered for its end.
_Noreturn void recorder_exit(int code);
/// Waits for any child; the signal that ended it, or 0.
pid_t recorder_wait(int *signal);
/// The process ends if it lives so long without another call.
void recorder_limit(unsigned seconds);
