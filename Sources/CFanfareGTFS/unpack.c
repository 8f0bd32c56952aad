#include "CFanfareGTFS.h"

#include <stdlib.h>

// Memory that protobuf-c gives back while it unpacks is not counted back: the bound holds for the sum of all allocations,
// and so for every moment.
static void *allocate(void *data, size_t size) {
    fanfare_gtfs_budget *budget = data;
    if (size > budget->left) {
        budget->left = 0;
        return NULL;
    }
    budget->left -= size;
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
