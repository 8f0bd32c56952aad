// GTFS-Realtime polls through protobuf-c: the generated structures, and unpacking within a bound.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gtfs-realtime.pb-c.h"

// The memory that protobuf-c may take for one poll, with what malloc adds to each request. A field of two bytes can make a structure of a hundred, so the size of the
// poll alone is no bound.
typedef struct {
    size_t left;
} fanfare_gtfs_budget;

// Returns NULL if the bytes are no poll, or would take more than `bytes_max` of memory; `*over_budget` says which.
// The poll is released with fanfare_gtfs_release.
FanfareGtfs__FeedMessage *fanfare_gtfs_unpack(const uint8_t *bytes, size_t count, size_t bytes_max, int *over_budget);
void fanfare_gtfs_release(FanfareGtfs__FeedMessage *poll);
