import Fanfare
import Foundation
import Testing

@Suite struct JSONTextTests {
    /// Threads of a program may hand in states while the program exits: they are read or refused.
    @Test func jsonDoesNotEndAProcessThatExits() async {
        await #expect(processExitsWith: .success) {
            // Registered before the first document: simdjson's destructors run before it if `exit` runs them at all.
            atexit {
                _ = try? JSONObject(json: "{}")
                _exit(EXIT_SUCCESS)
            }
            for _ in 0..<2 {
                Thread.detachNewThread { while true { _ = try? JSONObject(json: "{}") } }
            }
            _ = try JSONObject(json: "{}")
            exit(EXIT_FAILURE)
        }
    }

    /// The gate before simdjson's destructors closes although documents come without a pause.
    @Test(.timeLimit(.minutes(5))) func processExitsWhileThreadsReadJSON() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<8 {
                Thread.detachNewThread { while true { _ = try? JSONObject(json: #"{"a":[1,2,3]}"#) } }
            }
            for _ in 0..<1000 { _ = try JSONObject(json: "{}") }
            exit(EXIT_SUCCESS)
        }
    }

    @Test func anObjectIsReadAndWritten() throws {
        let object = try JSONObject(json: #" {"b": [1, 2.50, null], "a": {"ü": true}, "a": "last"} "#)
        #expect(object == ["a": "last", "b": [1, 2.5, .null]])
        #expect(object.json == #"{"a":"last","b":[1,2.5,null]}"#)
        #expect(try JSONObject(json: Array(object.json.utf8)) == object)
    }

    @Test(arguments: ["", "  ", "[1]", "3", #"{"a":}"#, #"{"a":1"#, #"{"a":1} x"#])
    func textThatIsNoJSONObjectIsRefusedWithTheReason(text: String) {
        #expect { _ = try JSONObject(json: text) } throws: { "\($0)".contains("JSON") && "\($0)".count > 10 }
    }

    @Test func deepNestingIsRefused() {
        let text = String(repeating: #"{"a":"#, count: 65) + "1" + String(repeating: "}", count: 65)
        #expect { _ = try JSONObject(json: text) } throws: { "\($0)".contains("64 levels") }
    }
}
