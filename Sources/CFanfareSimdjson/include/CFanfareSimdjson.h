// The smallest C face of simdjson's DOM parser: one call parses a document and gives out its tape.
//
// The tape is simdjson's own result, documented in its doc/tape.md: one 64-bit word per value, its type in the top
// eight bits, strings in a second buffer. Handing out the tape costs one call per document; a function per value would
// cost one call per value.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A parser and the buffers it reuses from document to document. One thread at a time.
typedef struct fanfare_json_parser fanfare_json_parser;

// Valid until the next parse with the same parser, or its release.
typedef struct {
    const uint64_t *words;
    const uint8_t *strings;
} fanfare_json_tape;

// Bytes that must be readable behind every document; their values do not matter.
extern const size_t fanfare_json_padding;

// Objects and arrays nested deeper than `depth_max` are an error. NULL when there is no memory, or when the process exits.
fanfare_json_parser *fanfare_json_parser_create(size_t depth_max, bool *is_exiting);
void fanfare_json_parser_release(fanfare_json_parser *parser);

// Parses exactly one JSON value. Returns NULL when it is well formed and UTF-8; otherwise what is wrong, as a string that
// lives for ever.
const char *fanfare_json_parse(
    fanfare_json_parser *parser, const uint8_t *bytes, size_t count, fanfare_json_tape *tape);

#ifdef __cplusplus
}
#endif
