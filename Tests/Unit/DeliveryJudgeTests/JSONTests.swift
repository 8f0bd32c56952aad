import Glibc
import LoadJSON
import Testing

@Suite struct LoadJSONTests {
    private func parse(_ text: String) throws -> JSON { try JSON(parsing: Array(text.utf8)) }

    @Test(arguments: [
        ("{\"b\":1,\"a\":[true,false,null]}", "{\"a\":[true,false,null],\"b\":1}"),
        (" [ 1 , -2.50 , 3.0 , 1e3 ] ", "[1,-2.5,3,1000]"),
        ("\"\\u00e9\\ud83d\\ude00\\n\\\"\"", "\"é😀\\u000a\\\"\""), ("-0", "0"),
        ("1234567890123456789", "1234567890123456789"),
        ("811692800.5", "811692800.5"), ("{}", "{}"), ("[]", "[]"),
    ])
    func equalValuesHaveEqualBytes(_ text: String, _ canonical: String) throws {
        #expect(try parse(text).canonicalText == canonical)
        #expect(try parse(canonical).canonicalText == canonical)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "01", "1.", ".5", "1e", "+1", "nul", "tru", "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"a", "\"\t\"", "1 2", "{\"a\":1,\"a\":2}", "1e999", "[1 2]",
    ])
    func textThatIsNoJSONIsRefused(_ text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test func nestingIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try parse(nested(JSON.depthMax)).arrayValue?.count == 1)
        #expect(throws: JSONError.self) { try parse(nested(JSON.depthMax + 1)) }
        #expect(throws: JSONError.self) { try parse(String(repeating: "{\"a\":", count: 10_000)) }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0x5C, 0x6E, 0xC3, 0x22]) }
    }

    @Test func linesAreReadAsTheyWereWritten() throws {
        let path = "/tmp/fanfare-json-lines-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).ndjson"
        defer { unlink(path) }
        // 2 MB: twice the writer's buffer, and the reader's.
        let values = (0..<2000).map { JSON.string(String(repeating: "x", count: $0)) }
        var writer = try LineWriter(path: path)
        for value in values { try writer.line { value.write(to: &$0) } }
        try writer.flush()
        var reader = try JSONLineReader(path: path)
        var index = 0
        while let value = try reader.next() {
            guard value == values[index] else {
                Issue.record("line \(index + 1) differs")
                return
            }
            index += 1
        }
        #expect(index == values.count && reader.line == values.count)
        var mode = stat()
        #expect(stat(path, &mode) == 0 && mode.st_mode & 0o777 == 0o600)
    }

    @Test func aMissingFileAndABrokenLineAreNamed() throws {
        let missing = #expect(throws: FileError.self) { _ = try JSONLineReader(path: "/nonexistent/dump") }
        #expect(missing?.description == "/nonexistent/dump: No such file or directory")
        let path = "/tmp/fanfare-json-broken-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).ndjson"
        defer { unlink(path) }
        var writer = try LineWriter(path: path)
        try writer.line { $0.append(contentsOf: "1".utf8) }
        try writer.line { $0.append(contentsOf: "{".utf8) }
        try writer.flush()
        var reader = try JSONLineReader(path: path)
        #expect(try reader.next() == 1)
        let broken = #expect(throws: FileError.self) { _ = try reader.next() }
        #expect(broken?.path == "\(path):2")
    }
}
