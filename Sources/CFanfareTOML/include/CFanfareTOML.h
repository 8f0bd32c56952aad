// A minimal C interface to toml++: one call parses a document and returns all of its values in one array, each with its place
// in the document.
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

// Lines and columns count from 1; 0 means that there is no place, for example for the document itself.
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
    // Value of a string.
    fanfare_toml_text text;
    // Value of an integer, or of a boolean as 0 or 1.
    int64_t integer;
    // Value of a number with a fraction.
    double number;
    // Number of direct members of a table or an array. They follow the node, each with all of its own members.
    size_t children;
} fanfare_toml_node;

typedef struct fanfare_toml_document fanfare_toml_document;

// Returns NULL only if memory is exhausted. This and fanfare_toml_release recurse once per level of tables and arrays, those of dotted keys
// included, so the caller bounds the levels; toml++ bounds only nested values (256).
fanfare_toml_document *fanfare_toml_parse(const char *bytes, size_t count);
void fanfare_toml_release(fanfare_toml_document *document);

// Returns the fault of a document that is no TOML, and its place; NULL if there is none.
const char *fanfare_toml_fault(const fanfare_toml_document *document, fanfare_toml_place *place);
// Returns all nodes, the document itself (a table) first; NULL if it has a fault.
const fanfare_toml_node *fanfare_toml_nodes(const fanfare_toml_document *document, size_t *count);

#ifdef __cplusplus
}
#endif
