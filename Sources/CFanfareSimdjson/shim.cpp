#include "CFanfareSimdjson.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <simdjson.h>

struct fanfare_json_parser {
    simdjson::dom::parser dom;
};

const size_t fanfare_json_padding = simdjson::SIMDJSON_PADDING;

// simdjson makes parsers with a static object, which `exit` destroys under the threads that still parse; existing parsers
// do not need it. This gate closes before that: `exit` calls what was registered last first, and the object exists already.
class Gate {
public:
    Gate() {
        simdjson::get_active_implementation()->name();
        simdjson::dom::parser first;
        (void)first.allocate(1, 1);
        std::atexit([] { Gate::shared().close(); });
    }
    static Gate &shared() {
        static Gate &gate = *new Gate;  // never destroyed
        return gate;
    }
    void close() {
        is_closed = true;  // first: readers that come now do not keep the lock from this thread
        std::unique_lock<std::shared_mutex> guard(mutex);
    }
    // Nobody closes the gate while `body` runs.
    template <typename Body> bool pass(Body body) {
        if (is_closed) { return false; }
        std::shared_lock<std::shared_mutex> guard(mutex);
        return !is_closed && body();
    }

private:
    std::shared_mutex mutex;
    std::atomic<bool> is_closed{false};
};

// Before `main`, so that no first parser is made while the process exits.
__attribute__((constructor)) static void before_main(void) { Gate::shared(); }

static fanfare_json_parser *create(size_t depth_max) {
    fanfare_json_parser *parser = new (std::nothrow) fanfare_json_parser;
    if (parser != nullptr && parser->dom.allocate(4096, depth_max) != simdjson::SUCCESS) {
        delete parser;
        return nullptr;
    }
    return parser;
}

fanfare_json_parser *fanfare_json_parser_create(size_t depth_max, bool *is_exiting) {
    fanfare_json_parser *parser = nullptr;
    *is_exiting = !Gate::shared().pass([&] {
        parser = create(depth_max);
        return true;
    });
    return parser;
}

void fanfare_json_parser_release(fanfare_json_parser *parser) { delete parser; }

// In words for people: the library's own texts speak of its buffers and modes.
static const char *text(simdjson::error_code error) noexcept {
    switch (error) {
    case simdjson::SUCCESS: return nullptr;
    case simdjson::EMPTY: return "nothing but white space";
    case simdjson::UTF8_ERROR: return "invalid UTF-8";
    case simdjson::DEPTH_ERROR: return "nested too deep";
    case simdjson::UNCLOSED_STRING: return "a string is not closed";
    case simdjson::UNESCAPED_CHARS: return "a control character stands unescaped in a string";
    case simdjson::STRING_ERROR: return "a string holds a broken escape";
    case simdjson::NUMBER_ERROR: return "a number is malformed or too large";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR: return "an unquoted word is none of true, false, null";
    case simdjson::MEMALLOC: return "out of memory";
    case simdjson::CAPACITY: return "too large";
    default: return "malformed JSON";
    }
}

const char *fanfare_json_parse(
    fanfare_json_parser *parser, const uint8_t *bytes, size_t count, fanfare_json_tape *tape) {
    simdjson::dom::element root;
    // `false`: the caller has padded the bytes, so they are parsed where they are. The buffers grow by themselves.
    simdjson::error_code error = parser->dom.parse(bytes, count, false).get(root);
    if (error) { return text(error); }
    tape->words = parser->dom.doc.tape.get();
    tape->strings = parser->dom.doc.string_buf.get();
    return nullptr;
}
