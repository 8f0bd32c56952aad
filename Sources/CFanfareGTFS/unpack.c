#include "CFanfareGTFS.h"

#include <stdlib.h>

// Bytes that malloc takes for a request. glibc's chunks have a header of 8 bytes, are a multiple of 16, and have at least 32: the texts of a
// hostile poll have a byte or two each.
static size_t taken(size_t size) {
    size_t chunk = (size + 8 + 15) / 16 * 16;
    return chunk < 32 ? 32 : chunk;
}

// Memory that protobuf-c gives back while it unpacks is not counted back: the bound holds for the sum of all allocations,
// and so for every moment.
static void *allocate(void *data, size_t size) {
    fanfare_gtfs_budget *budget = data;
    // The first comparison keeps the sum below from an overflow.
    if (size > budget->left || taken(size) > budget->left) {
        budget->left = 0;
        return NULL;
    }
    budget->left -= taken(size);
    return malloc(size);
}

static void release(void *data, void *pointer) {
    (void)data;
    free(pointer);
}

FanfareGtfs__FeedMessage *fanfare_gtfs_unpack(const uint8_t *bytes, size_t count, size_t bytes_max, int *over_budget) {
    fanfare_gtfs_budget budget = {bytes_max};
    ProtobufCAllocator allocator = {allocate, release, &budget};
    FanfareGtfs__FeedMessage *poll = fanfare_gtfs__feed_message__unpack(&allocator, count, bytes);
    *over_budget = poll == NULL && budget.left == 0;
    return poll;
}

void fanfare_gtfs_release(FanfareGtfs__FeedMessage *poll) {
    ProtobufCAllocator allocator = {allocate, release, NULL};
    if (poll != NULL) { fanfare_gtfs__feed_message__free_unpacked(poll, &allocator); }
}
