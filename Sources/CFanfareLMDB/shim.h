#pragma once
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

// Swift attributes `struct stat` to whichever C module included it first, so the questions that need it are asked here.

/// Bytes of a file; -1 if there is none.
static inline long long fanfare_file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (long long)status.st_size : -1;
}

/// Names that an open file has in folders, 0 if it was removed; -1 with `errno` on a failure.
static inline long long fanfare_file_names(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (long long)status.st_nlink : -1;
}

/// Gives an open file to the user and group that own another one; -1 with `errno` on a failure.
static inline int fanfare_give_to_owner_of(const char *path, int descriptor) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    return fchown(descriptor, status.st_uid, status.st_gid);
}
