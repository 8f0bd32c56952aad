#pragma once
#include <uv.h>
#include <sched.h>
// glibc shows these to _GNU_SOURCE only, which a Swift import of its headers does not define.
extern int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set);
extern int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set);
// libuv's own function takes any number of arguments, which Swift cannot pass.
static inline int fanfare_uv_measure_idle_time(uv_loop_t *loop) { return uv_loop_configure(loop, UV_METRICS_IDLE_TIME); }
