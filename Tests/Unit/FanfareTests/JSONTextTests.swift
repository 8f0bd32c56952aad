import Fanfare
import Glibc
import Testing

@Suite struct JSONTextTests {
    /// Threads of a program may hand in states while the program exits.
    @Test func jsonIsRefusedOnceTheProcessExits() async {
        await #expect(processExitsWith: .success) {
            // `exit` calls the last handler first, so simdjson's destructors have run before this one.
            atexit { _exit((try? JSONObject(json: "{}")) == nil ? EXIT_SUCCESS : EXIT_FAILURE) }
            _ = try JSONObject(json: "{}")
            exit(EXIT_FAILURE)
        }
    }

    @Test func anObjectIsReadAndWritten() throws {
        let object = try JSONObject(json: #" {"b": [1, 2.50, null], "a": {"ü": true}, "a": "last"} "#)
        #expect(object == ["a": "last", "b": [1, 2.5, .null]])
        #expect(object.json == #"{"a":"last","b":[1,2.5,null]}"#)
        #expect(try JSONObject(json: Array(object.json.utf8)) == object)
    }

    @Test(arguments: ["", "  ", "[1]", "3", #"{"a":}"#, #"{"a":1"#, #"{"a":1} x"#])
    func whatIsNoObjectIsSaid(text: String) {
        #expect { _ = try JSONObject(json: text) } throws: { "\($0)".contains("JSON") && "\($0)".count > 10 }
    }

    @Test func deepNestingIsRefused() {
        let text = String(repeating: #"{"a":"#, count: 65) + "1" + String(repeating: "}", count: 65)
        #expect { _ = try JSONObject(json: text) } throws: { "\($0)".contains("64 levels") }
    }
}
