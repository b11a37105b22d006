/* A library that stands before a program's copies to the host, and writes what came with each.
 *
 * LD_PRELOAD names it, before libcudart and libcuda; NUMBERS_LOG names a file, to which it adds a line of JSON
 * for each copy from a device to the host:
 *   {"kind": NAME, "bytes": N, "hash": 16 DIGITS, "sample": DIGITS}
 *   {"kind": NAME, "bytes": N, "why": REASON}   the bytes can't be told: it failed, or a graph will do it later
 * The hash is of all bytes. The sample, for the first SAMPLES copies, is all of them up to BLOCKS blocks of
 * BLOCK bytes, beyond that BLOCKS blocks that are spread evenly, the first and the last among them.
 *
 * Where NUMBERS_FREED is set, memory of cudaMalloc begins as zeros, and what it holds when the program gives it
 * to cudaFree is noted like a copy, or else what it holds at the end, as of cudaMalloc: for programs that compare
 * their results on the device.
 *
 * The numbers of std::random_device are 0, 0, ..: what they seed is the same in every run.
 *
 * After an asynchronous copy it waits for the stream: nothing can happen to the bytes between the copy and the
 * hash. Managed and mapped memory, which the host reads in place, and what a graph copies, it doesn't see.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TO_HOST = 2, BY_ADDRESS = 4, BLOCK = 16, BLOCKS = 256, SAMPLES = 32 };

typedef int status;
typedef void *stream;
/* cudaPointerAttributes: `type` is 0 for the host's own memory, 1 for its pinned memory. */
struct attributes { int type, device; void *pointers[2]; long rest[16]; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sampled;
static __thread int within; /* the runtime's copies may call the driver's: only the program's own count */

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "copies.c: there is no %s behind this library\n", name);
        abort();
    }
    return found;
}
#define NEXT(name) ((__typeof__(&name))next(#name))

static uint64_t hash_of(const unsigned char *bytes, size_t count) {
    uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a, and a mixing of what it is bad at: the upper bits */
    for (size_t at = 0; at < count; at++) hash = (hash ^ bytes[at]) * 0x100000001b3ull;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static void write_line(const char *line, size_t length) {
    const char *path = getenv("NUMBERS_LOG");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (file < 0 || write(file, line, length) != (ssize_t)length) {
        fprintf(stderr, "copies.c: can't write to NUMBERS_LOG (%s)\n", path ? path : "not set");
        abort();
    }
    close(file);
}

static void tell(const char *kind, const void *to, size_t count) {
    static char line[128 + 2 * BLOCK * BLOCKS];
    const unsigned char *bytes = to;
    pthread_mutex_lock(&lock);
    int at = sprintf(line, "{\"kind\": \"%s\", \"bytes\": %zu, \"hash\": \"%016llx\"", kind, count,
                     (unsigned long long)hash_of(bytes, count));
    if (sampled++ < SAMPLES) {
        at += sprintf(line + at, ", \"sample\": \"");
        if (count <= BLOCK * BLOCKS)
            for (size_t i = 0; i < count; i++) at += sprintf(line + at, "%02x", bytes[i]);
        else
            for (size_t block = 0; block < BLOCKS; block++) {
                const unsigned char *from = bytes + (count / BLOCK - 1) * block / (BLOCKS - 1) * BLOCK;
                for (int i = 0; i < BLOCK; i++) at += sprintf(line + at, "%02x", from[i]);
            }
        at += sprintf(line + at, "\"");
    }
    at += sprintf(line + at, "}\n");
    write_line(line, at);
    pthread_mutex_unlock(&lock);
}

static void tell_why(const char *kind, size_t count, const char *why, int code) {
    char line[256];
    int length = snprintf(line, sizeof line, "{\"kind\": \"%s\", \"bytes\": %zu, \"why\": \"%s %d\"}\n", kind,
                          count, why, code);
    write_line(line, length);
}

/* What came with a copy that is over: rows of `width` bytes, `pitch` apart. */
static void tell_rows(const char *kind, status code, const void *to, size_t pitch, size_t width, size_t rows) {
    if (code) {
        tell_why(kind, width * rows, "failed:", code);
    } else if (rows == 1 || pitch == width) {
        tell(kind, to, width * rows);
    } else {
        char *dense = malloc(width * rows + 1);
        if (!dense) abort();
        for (size_t row = 0; row < rows; row++)
            memcpy(dense + row * width, (const char *)to + row * pitch, width);
        tell(kind, dense, width * rows);
        free(dense);
    }
}

status cudaDeviceSynchronize(void);
status cudaMemset(void *, int, size_t);
status cudaPointerGetAttributes(struct attributes *, const void *);
status cudaStreamIsCapturing(stream, int *);
status cudaStreamSynchronize(stream);
status cuStreamIsCapturing(stream, int *);
status cuStreamSynchronize(stream);

static int to_host(int kind, const void *to, const void *from) {
    struct attributes there = {0}, here = {0};
    if (kind != BY_ADDRESS) return kind == TO_HOST;
    if (NEXT(cudaPointerGetAttributes)(&there, to) || NEXT(cudaPointerGetAttributes)(&here, from)) return 0;
    return there.type < 2 && here.type >= 2;
}

/* The same after a copy that is queued: by the runtime's stream, or the driver's. */
static void tell_queued(const char *kind, status code, status (*capturing)(stream, int *),
                        status (*wait)(stream), stream on, const void *to, size_t pitch, size_t width, size_t rows) {
    int captured = 0;
    if (!code && (capturing(on, &captured) || captured)) {
        tell_why(kind, width * rows, "captured:", captured);
        return;
    }
    tell_rows(kind, code ? code : wait(on), to, pitch, width, rows);
}

#define STAND_BEFORE(name, parameters, arguments, wanted, told)     \
    status name parameters {                                        \
        __typeof__(&name) real = NEXT(name);                        \
        int ours = !within && (wanted);                             \
        within++;                                                   \
        status code = real arguments;                               \
        if (ours) told;                                             \
        within--;                                                   \
        return code;                                                \
    }
#define QUEUED(kind, on, to, pitch, width, rows) \
    tell_queued(kind, code, NEXT(cudaStreamIsCapturing), NEXT(cudaStreamSynchronize), on, to, pitch, width, rows)

STAND_BEFORE(cudaMemcpy, (void *to, const void *from, size_t count, int kind), (to, from, count, kind),
             to_host(kind, to, from), tell_rows("cudaMemcpy", code, to, count, count, 1))
STAND_BEFORE(cudaMemcpyAsync, (void *to, const void *from, size_t count, int kind, stream on),
             (to, from, count, kind, on), to_host(kind, to, from),
             QUEUED("cudaMemcpyAsync", on, to, count, count, 1))
STAND_BEFORE(cudaMemcpy2D,
             (void *to, size_t pitch, const void *from, size_t other, size_t width, size_t rows, int kind),
             (to, pitch, from, other, width, rows, kind), to_host(kind, to, from),
             tell_rows("cudaMemcpy2D", code, to, pitch, width, rows))
STAND_BEFORE(cudaMemcpy2DAsync,
             (void *to, size_t pitch, const void *from, size_t other, size_t width, size_t rows, int kind, stream on),
             (to, pitch, from, other, width, rows, kind, on), to_host(kind, to, from),
             QUEUED("cudaMemcpy2DAsync", on, to, pitch, width, rows))
STAND_BEFORE(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t count, size_t offset, int kind),
             (to, symbol, count, offset, kind), kind == TO_HOST || kind == BY_ADDRESS,
             tell_rows("cudaMemcpyFromSymbol", code, to, count, count, 1))
STAND_BEFORE(cuMemcpyDtoH_v2, (void *to, unsigned long long from, size_t count), (to, from, count), 1,
             tell_rows("cuMemcpyDtoH", code, to, count, count, 1))
STAND_BEFORE(cuMemcpyDtoHAsync_v2, (void *to, unsigned long long from, size_t count, stream on),
             (to, from, count, on), 1,
             tell_queued("cuMemcpyDtoHAsync", code, NEXT(cuStreamIsCapturing), NEXT(cuStreamSynchronize), on, to,
                         count, count, 1))

/* What cudaMalloc gave and cudaFree has not got yet, the oldest first. */
static struct { void *at; size_t count; } *allocations;
static size_t many;

static void hold(void *at, size_t count) {
    pthread_mutex_lock(&lock);
    allocations = realloc(allocations, (many + 1) * sizeof *allocations);
    if (!allocations) abort();
    allocations[many].at = at;
    allocations[many++].count = count;
    pthread_mutex_unlock(&lock);
}

/* How many bytes are held at an address, which is forgotten; 0 if none are. */
static size_t let_go(const void *at) {
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < many; i++)
        if (allocations[i].at == at) {
            count = allocations[i].count;
            memmove(allocations + i, allocations + i + 1, (--many - i) * sizeof *allocations);
            break;
        }
    pthread_mutex_unlock(&lock);
    return count;
}

static void tell_held(const char *kind, const void *at, size_t count) {
    void *bytes = malloc(count);
    if (!bytes) abort();
    status code = NEXT(cudaDeviceSynchronize)();
    if (!code) code = NEXT(cudaMemcpy)(bytes, at, count, TO_HOST);
    tell_rows(kind, code, bytes, count, count, 1);
    free(bytes);
}

/* Static objects free theirs when the runtime has gone: this comes before, for it was asked for later. */
static void at_end(void) {
    within++;
    while (many) {
        void *at = allocations[0].at;
        tell_held("cudaMalloc", at, let_go(at));
    }
    within--;
}

static void ask_for_the_end(void) { atexit(at_end); }

status cudaMalloc(void **to, size_t count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    within++;
    status code = NEXT(cudaMalloc)(to, count);
    if (!code && count && getenv("NUMBERS_FREED")) {
        pthread_once(&once, ask_for_the_end);
        code = NEXT(cudaMemset)(*to, 0, count);
        hold(*to, count);
    }
    within--;
    return code;
}

status cudaFree(void *at) {
    within++;
    size_t count = let_go(at);
    if (count) tell_held("cudaFree", at, count);
    status code = NEXT(cudaFree)(at);
    within--;
    return code;
}

/* unsigned std::random_device::_M_getval(), of libstdc++ */
unsigned _ZNSt13random_device9_M_getvalEv(void *device) {
    (void)device;
    return 0;
}
