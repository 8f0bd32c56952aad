#pragma once
#include <pthread.h>
// glibc shows it to _GNU_SOURCE only, which a Swift import of its headers does not define.
extern int pthread_setname_np(pthread_t thread, const char *name);
