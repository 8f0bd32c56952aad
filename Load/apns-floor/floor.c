// Measures the minimum cost of sending pushes: frames that were encoded beforehand go through OpenSSL and a socket, and answers are read
// and counted. Any error ends the program. `apns-load prepare` makes the frames, byte for byte as Fanfare's client sends them.
//
//   usage: apns-floor PORT DIRECTORY PUSHES [STREAMS]
//
//   DIRECTORY/opening    the beginning of a connection, including the request on stream 1
//   DIRECTORY/requests   a HEADERS and a DATA frame for each token
//
// Prints the number of pushes answered with 200.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/ssl.h>

enum { headerBytes = 9, data = 0, headers = 1, settings = 4, ping = 6, goAway = 7, windowUpdate = 8, endStream = 1, ack = 1 };

// Records gather here so that several leave with one system call, as from Fanfare's client.
static uint8_t gathered[256 * 1024];
static size_t gatheredCount;
static const size_t gatheredMax = 128 * 1024;
static int socketDescriptor;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void leave(void) {
    for (size_t sent = 0; sent < gatheredCount;) {
        ssize_t count = send(socketDescriptor, gathered + sent, gatheredCount - sent, MSG_NOSIGNAL);
        if (count < 0) die("apns-floor: send");
        sent += (size_t)count;
    }
    gatheredCount = 0;
}

static int gather(BIO *bio, const char *bytes, int count) {
    (void)bio;
    memcpy(gathered + gatheredCount, bytes, (size_t)count);
    gatheredCount += (size_t)count;
    // OpenSSL passes one record at a time, 17 KB at most.
    if (gatheredCount >= gatheredMax) leave();
    return count;
}

static long control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    if (command == BIO_CTRL_FLUSH) leave();
    return command == BIO_CTRL_FLUSH;
}

static uint8_t *contents(const char *folder, const char *name, size_t *count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY);
    struct stat about;
    if (file < 0 || fstat(file, &about) < 0) die(path);
    *count = (size_t)about.st_size;
    // A private copy, because stream numbers are written into it.
    uint8_t *bytes = mmap(NULL, *count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (bytes == MAP_FAILED) die(path);
    return bytes;
}

static uint32_t length(const uint8_t *frame) { return (uint32_t)frame[0] << 16 | (uint32_t)frame[1] << 8 | frame[2]; }
static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}
static void setNumber(uint8_t *bytes, uint32_t value) {
    uint32_t swapped = htonl(value);
    memcpy(bytes, &swapped, 4);
}

static void writeAll(SSL *ssl, const uint8_t *bytes, size_t count) {
    if (SSL_write(ssl, bytes, (int)count) != (int)count) die("apns-floor: SSL_write");
}

static SSL *connection(uint16_t port) {
    socketDescriptor = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(socketDescriptor, (struct sockaddr *)&address, sizeof address) < 0) die("apns-floor: connect");
    int yes = 1;
    setsockopt(socketDescriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_alpn_protos(context, (const uint8_t *)"\x02h2", 3);
    // Without read-ahead, OpenSSL reads each record's header with a system call of its own.
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 64 * 1024);
    SSL *ssl = SSL_new(context);
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "gathering");
    BIO_meth_set_write(method, gather);
    BIO_meth_set_ctrl(method, control);
    BIO *gathering = BIO_new(method);
    BIO_set_init(gathering, 1);
    SSL_set0_rbio(ssl, BIO_new_socket(socketDescriptor, BIO_NOCLOSE));
    SSL_set0_wbio(ssl, gathering);
    if (SSL_connect(ssl) != 1) die("apns-floor: SSL_connect");
    return ssl;
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: apns-floor PORT DIRECTORY PUSHES [STREAMS]\n");
        return 2;
    }
    const uint64_t pushes = strtoull(arguments[3], NULL, 10);
    const uint64_t streamsMax = count > 4 ? strtoull(arguments[4], NULL, 10) : 1000;
    size_t openingCount, requestsCount;
    uint8_t *opening = contents(arguments[2], "opening", &openingCount);
    uint8_t *requests = contents(arguments[2], "requests", &requestsCount);
    SSL *ssl = connection((uint16_t)atoi(arguments[1]));
    writeAll(ssl, opening, openingCount);

    uint64_t sent = 1, answered = 0, accepted = 0;
    int64_t window = 65535 - 4096;  // a generous allowance for the opening's request
    uint32_t stream = 3;
    size_t at = 0;
    static uint8_t input[64 * 1024];
    size_t inputCount = 0;
    while (answered < pushes) {
        // Numbers as many requests as streams and window allow, in place.
        size_t from = at;
        while (sent < pushes && sent - answered < streamsMax) {
            uint8_t *head = requests + at;
            uint8_t *body = head + headerBytes + length(head);
            uint32_t bodyCount = length(body);
            if (window < bodyCount) break;
            window -= bodyCount;
            setNumber(head + 5, stream);
            setNumber(body + 5, stream);
            stream += 2;
            sent++;
            at = (size_t)(body - requests) + headerBytes + bodyCount;
            if (at == requestsCount) {
                writeAll(ssl, requests + from, at - from);
                at = from = 0;
            }
        }
        if (at > from) writeAll(ssl, requests + from, at - from);
        leave();
        int got = SSL_read(ssl, input + inputCount, (int)(sizeof input - inputCount));
        if (got <= 0) die("apns-floor: SSL_read");
        inputCount += (size_t)got;
        size_t position = 0;
        while (inputCount - position >= headerBytes) {
            const uint8_t *frame = input + position;
            size_t end = position + headerBytes + length(frame);
            if (end > inputCount) break;
            const uint8_t *payload = frame + headerBytes;
            if (frame[3] == headers || frame[3] == data) {
                if (frame[4] & endStream) answered++;
                // `:status 200` in HPACK's static table.
                if (frame[3] == headers && length(frame) > 0 && payload[length(frame) - 1] == 0x88) accepted++;
            } else if (frame[3] == windowUpdate && number(frame + 5) == 0) {
                window += number(payload);
            } else if (frame[3] == settings && !(frame[4] & ack)) {
                const uint8_t reply[headerBytes] = {0, 0, 0, settings, ack, 0, 0, 0, 0};
                writeAll(ssl, reply, sizeof reply);
            } else if (frame[3] == goAway) {
                fprintf(stderr, "apns-floor: the server said GOAWAY\n");
                return 1;
            }
            position = end;
        }
        memmove(input, input + position, inputCount - position);
        inputCount -= position;
    }
    printf("pushes=%llu accepted=%llu\n", (unsigned long long)pushes, (unsigned long long)accepted);
    SSL_shutdown(ssl);
    leave();
    return accepted == pushes ? 0 : 1;
}
