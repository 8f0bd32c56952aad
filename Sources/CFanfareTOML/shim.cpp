#include "CFanfareTOML.h"

#include <new>
#include <string>
#include <string_view>
#include <vector>

// Errors are values here too, and nothing is written as TOML.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// Bytes that are no TOML fail assertions of toml++ 3.3: "[=", "a=[}", "a=2020-01-01T:", and a date and a time with 116 underscores between them.
// Without the assertions it finds a fault in each of them: of the last one it reads some characters a second time, and an underscore is no part
// of a date. With NDEBUG it would take its assertions for promises.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

struct fanfare_toml_document {
    // Owns what the texts of `nodes` point to.
    toml::table root;
    std::vector<fanfare_toml_node> nodes;
    std::string fault;
    fanfare_toml_place fault_place = {};
};

static fanfare_toml_place place(const toml::source_region &source) { return {source.begin.line, source.begin.column}; }
static fanfare_toml_text text(std::string_view view) { return {view.data(), view.size()}; }

static void add(fanfare_toml_document &document, const toml::node &node, const toml::key *key) {
    fanfare_toml_node added = {};
    if (key != nullptr) {
        added.key = text(key->str());
        added.key_place = place(key->source());
    }
    added.place = place(node.source());
    switch (node.type()) {
    case toml::node_type::table:
        added.kind = FANFARE_TOML_TABLE;
        added.children = node.as_table()->size();
        break;
    case toml::node_type::array:
        added.kind = FANFARE_TOML_ARRAY;
        added.children = node.as_array()->size();
        break;
    case toml::node_type::string:
        added.kind = FANFARE_TOML_STRING;
        added.text = text(node.as_string()->get());
        break;
    case toml::node_type::integer:
        added.kind = FANFARE_TOML_INTEGER;
        added.integer = node.as_integer()->get();
        break;
    case toml::node_type::floating_point:
        added.kind = FANFARE_TOML_NUMBER;
        added.number = node.as_floating_point()->get();
        break;
    case toml::node_type::boolean:
        added.kind = FANFARE_TOML_BOOLEAN;
        added.integer = node.as_boolean()->get() ? 1 : 0;
        break;
    default: added.kind = FANFARE_TOML_DATE;
    }
    document.nodes.push_back(added);
    if (const toml::table *table = node.as_table()) {
        for (const auto &[name, value] : *table) { add(document, value, &name); }
    } else if (const toml::array *array = node.as_array()) {
        for (const toml::node &value : *array) { add(document, value, nullptr); }
    }
}

fanfare_toml_document *fanfare_toml_parse(const char *bytes, size_t count) {
    auto *document = new (std::nothrow) fanfare_toml_document;
    if (document == nullptr) { return nullptr; }
    toml::parse_result result = toml::parse(std::string_view(bytes, count));
    if (result) {
        document->root = std::move(result).table();
        add(*document, document->root, nullptr);
    } else {
        document->fault = result.error().description();
        document->fault_place = place(result.error().source());
    }
    return document;
}

void fanfare_toml_release(fanfare_toml_document *document) { delete document; }

const char *fanfare_toml_fault(const fanfare_toml_document *document, fanfare_toml_place *place) {
    *place = document->fault_place;
    return document->nodes.empty() ? document->fault.c_str() : nullptr;
}

const fanfare_toml_node *fanfare_toml_nodes(const fanfare_toml_document *document, size_t *count) {
    *count = document->nodes.size();
    return document->nodes.empty() ? nullptr : document->nodes.data();
}
