// The loops over the peers, equal line for line to those over Fanfare's queues in QueueRaces.swift.

#include "bench.h"

#include <concurrentqueue/concurrentqueue.h>
#include <readerwriterqueue/readerwriterqueue.h>

#include <algorithm>
#include <array>
#include <boost/lockfree/spsc_queue.hpp>
#include <memory>
#include <vector>

namespace {

/// `words` numbers that count up from the first. The consumer sums them, so that every byte is written and read.
template <size_t words> struct Item {
    std::array<uint64_t, words> values;
    explicit Item(uint64_t first) {
        for (size_t index = 0; index < words; ++index) values[index] = first + index;
    }
    Item() = default;
    uint64_t sum() const {
        uint64_t sum = 0;
        for (uint64_t value : values) sum += value;
        return sum;
    }
};

constexpr size_t batch_max = 256;

template <typename T> struct BoostSPSC {
    boost::lockfree::spsc_queue<T> queue;
    // Boost adds the slot that it keeps free.
    explicit BoostSPSC(bench_queue_work work) : queue(work.capacity) {}
    struct Producer {
        BoostSPSC &shared;
        bool push(const T &item) { return shared.queue.push(item); }
        size_t push(const T *items, size_t count) { return shared.queue.push(items, count); }
    };
    struct Consumer {
        BoostSPSC &shared;
        bool pop(T &item) { return shared.queue.pop(item); }
        size_t pop(T *items, size_t count) { return shared.queue.pop(items, count); }
    };
};

template <typename T> struct ReaderWriterQueue {
    moodycamel::ReaderWriterQueue<T> queue;
    explicit ReaderWriterQueue(bench_queue_work work) : queue(work.capacity) {}
    struct Producer {
        ReaderWriterQueue &shared;
        // `try_enqueue` never allocates, so the queue is bounded like the others.
        bool push(const T &item) { return shared.queue.try_enqueue(item); }
        size_t push(const T *, size_t) { return 0; }  // has no batch call
    };
    struct Consumer {
        ReaderWriterQueue &shared;
        bool pop(T &item) { return shared.queue.try_dequeue(item); }
        size_t pop(T *, size_t) { return 0; }
    };
};

template <typename T> struct ConcurrentQueue {
    moodycamel::ConcurrentQueue<T> queue;
    explicit ConcurrentQueue(bench_queue_work work) : queue(work.capacity, work.producers, 0) {}
    // One token per thread is its fastest way. The queue grows, because a producer keeps all blocks that it ever took: with `try_enqueue` a
    // fast producer could take all blocks and block the other for ever.
    struct Producer {
        ConcurrentQueue &shared;
        moodycamel::ProducerToken token{shared.queue};
        bool push(const T &item) { return shared.queue.enqueue(token, item); }
        size_t push(const T *items, size_t count) {
            return shared.queue.enqueue_bulk(token, items, count) ? count : 0;
        }
    };
    struct Consumer {
        ConcurrentQueue &shared;
        moodycamel::ConsumerToken token{shared.queue};
        bool pop(T &item) { return shared.queue.try_dequeue(token, item); }
        size_t pop(T *items, size_t count) { return shared.queue.try_dequeue_bulk(token, items, count); }
    };
};

template <typename Queue, typename T> struct Race {
    struct Share {
        Race *race;
        int64_t first, count;
    };
    bench_queue_work work;
    Queue queue;

    explicit Race(bench_queue_work work) : work(work), queue(work) {}

    static uint64_t produce(void *context) {
        const Share share = *static_cast<Share *>(context);
        const bench_queue_work work = share.race->work;
        const bool must_yield = bench_must_yield(work);
        typename Queue::Producer producer{share.race->queue};
        int64_t next = share.first;
        const int64_t end = share.first + share.count;
        if (work.batch == 1) {
            while (next < end) {
                const T item(next);
                while (!producer.push(item)) bench_wait(must_yield);
                ++next;
            }
        } else {
            std::array<T, batch_max> items;
            while (next < end) {
                const size_t count = std::min<int64_t>(work.batch, end - next);
                for (size_t index = 0; index < count; ++index) items[index] = T(next + index);
                size_t done = 0;
                while (done < count) {
                    const size_t pushed = producer.push(items.data() + done, count - done);
                    if (pushed == 0) bench_wait(must_yield);
                    done += pushed;
                }
                next += count;
            }
        }
        return 0;
    }

    static uint64_t consume(void *context) {
        Race &race = *static_cast<Race *>(context);
        const bench_queue_work work = race.work;
        const bool must_yield = bench_must_yield(work);
        typename Queue::Consumer consumer{race.queue};
        uint64_t sum = 0;
        int64_t left = work.items;
        if (work.batch == 1) {
            while (left > 0) {
                T item;
                if (!consumer.pop(item)) {
                    bench_wait(must_yield);
                    continue;
                }
                sum += item.sum();
                --left;
            }
        } else {
            std::array<T, batch_max> items;
            while (left > 0) {
                const size_t count = consumer.pop(items.data(), work.batch);
                if (count == 0) bench_wait(must_yield);
                for (size_t index = 0; index < count; ++index) sum += items[index].sum();
                left -= count;
            }
        }
        return sum;
    }

    static bench_result run(void *context) {
        const bench_queue_work work = *static_cast<bench_queue_work *>(context);
        auto race = std::make_unique<Race>(work);
        std::vector<Share> shares;
        std::vector<bench_role> roles;
        const int64_t each = work.items / work.producers;
        for (int index = 0; index < work.producers; ++index) shares.push_back({race.get(), index * each, each});
        for (int index = 0; index < work.producers; ++index) {
            roles.push_back({produce, &shares[index], bench_producer_cpu(work, index)});
        }
        roles.push_back({consume, race.get(), bench_consumer_cpu(work)});
        return bench_race(roles.data(), int(roles.size()), work.items);
    }
};

template <template <typename> class Queue>
void register_peer(const char *name, bench_queue_work work, uint64_t expected_checksum) {
    auto *context = new bench_queue_work(work);  // benchmarks live as long as the process
    if (work.item_bytes == 8) {
        bench_register(name, Race<Queue<Item<1>>, Item<1>>::run, context, expected_checksum);
    } else {
        bench_register(name, Race<Queue<Item<8>>, Item<8>>::run, context, expected_checksum);
    }
}

}  // namespace

void bench_register_boost_spsc(const char *name, bench_queue_work work, uint64_t expected_checksum) {
    register_peer<BoostSPSC>(name, work, expected_checksum);
}

void bench_register_reader_writer_queue(const char *name, bench_queue_work work, uint64_t expected_checksum) {
    register_peer<ReaderWriterQueue>(name, work, expected_checksum);
}

void bench_register_concurrent_queue(const char *name, bench_queue_work work, uint64_t expected_checksum) {
    register_peer<ConcurrentQueue>(name, work, expected_checksum);
}
