// The smallest C face of toml++: one call parses a document and gives out all of its values in one array, each with the
// place where it stands.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    FANFARE_TOML_TABLE,
    FANFARE_TOML_ARRAY,
    FANFARE_TOML_STRING,
    FANFARE_TOML_INTEGER,
    FANFARE_TOML_NUMBER,
    FANFARE_TOML_BOOLEAN,
    FANFARE_TOML_DATE,
} fanfare_toml_kind;

// Lines and columns count from 1; 0 where there is no place, as that of the document itself.
typedef struct {
    uint32_t line, column;
} fanfare_toml_place;

// Bytes of UTF-8; they live as long as the document.
typedef struct {
    const char *bytes;
    size_t count;
} fanfare_toml_text;

typedef struct {
    fanfare_toml_kind kind;
    // Empty for the document and for members of arrays.
    fanfare_toml_text key;
    fanfare_toml_place key_place;
    fanfare_toml_place place;
    // Of a string.
    fanfare_toml_text text;
    // Of an integer; of a boolean 0 or 1.
    int64_t integer;
    // Of a number with a fraction.
    double number;
    // Of a table or an array: how many stand directly in it. They follow, each with all that stands in it.
    size_t children;
} fanfare_toml_node;

typedef struct fanfare_toml_document fanfare_toml_document;

// Never NULL but for want of memory. Keys and values may be nested as deep as the caller allows lines to have dots, and
// toml++ values (256).
fanfare_toml_document *fanfare_toml_parse(const char *bytes, size_t count);
void fanfare_toml_release(fanfare_toml_document *document);

// What is wrong with a document that is no TOML, and where; NULL when nothing is.
const char *fanfare_toml_fault(const fanfare_toml_document *document, fanfare_toml_place *place);
// The document itself first: a table. NULL when it has a fault.
const fanfare_toml_node *fanfare_toml_nodes(const fanfare_toml_document *document, size_t *count);

#ifdef __cplusplus
}
#endif
