import CFanfareSimdjson

/// A JSON parser whose buffers are reused for each document. simdjson does the work; only this file and `JSONElement` see its pointers.
@safe package final class JSONParser {
    /// Maximum nesting of objects and arrays. No feed of the engine needs ten; the bound keeps every recursion over the result shallow.
    package static let depthMax = 64
    /// Bytes that must be readable after every document.
    package static let padding = fanfare_json_padding

    package struct Failure: Error {
        package let reason: String
    }

    /// Owned. `nil` if the parser was made while the process exited, when simdjson makes none any more.
    private let parser: OpaquePointer?

    package init() {
        var isExiting = false
        unsafe parser = unsafe fanfare_json_parser_create(JSONParser.depthMax, &isExiting)
        // Without these few kilobytes the runtime ends the process at the next allocation of its own.
        guard unsafe parser != nil || isExiting else { fatalError("no memory for a JSON parser (a few kilobytes)") }
    }

    deinit { if let parser = unsafe parser { unsafe fanfare_json_parser_release(parser) } }

    /// Parses one document. `bytes` must be followed by `padding` readable bytes; the root is valid until the next document.
    package func parse(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> JSONElement {
        guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
            throw Failure(reason: "nothing but white space")
        }
        guard let parser = unsafe parser else { throw Failure(reason: "not read, because the process exits") }
        var tape = unsafe fanfare_json_tape()
        let error = unsafe fanfare_json_parse(parser, start.assumingMemoryBound(to: UInt8.self), bytes.count, &tape)
        if let error = unsafe error {
            var reason = unsafe String(cString: error)
            if reason == "nested too deep" { reason += " (more than \(JSONParser.depthMax) levels)" }
            throw Failure(reason: reason)
        }
        // A tape begins with a root word, which the document's value follows.
        return unsafe JSONElement(words: tape.words, strings: tape.strings, index: 1)
    }

    /// Parses bytes without padding, and passes the root to `body`, from which it must not escape.
    package func parse<Result>(_ document: [UInt8], _ body: (JSONElement) -> Result) throws(Failure) -> Result {
        var padded = document
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        return try unsafe padded.withUnsafeBufferPointer { (bytes) throws(Failure) in
            unsafe body(try parse(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes.prefix(document.count)))))
        }
    }
}
