import Fanfare
import FanfareModel
import FanfarePresentation
import Foundation
import Testing

@testable import FanfareCLI

/// One phone's story: pushes, the app's own updates, and the person who turns Live Activities off.
@Suite struct PhoneScriptTests {
    private func script(_ lines: String...) throws -> PhoneScript {
        let file = NSTemporaryDirectory() + "fanfare-phone-\(UUID()).ndjson"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        return try PhoneScript(file: file)
    }

    private func push(_ second: Int, _ state: JSONObject, ends: Duration? = nil) -> PreviewMoment {
        PreviewMoment(
            content: CardContent(
                topic: TopicID("a"), kind: .generic, state: state, at: time(second), isOver: ends != nil),
            title: "a", cause: "push", unsent: [], dismissAfter: ends)
    }

    private func time(_ second: Int) -> FeedTime {
        FeedTime(rfc3339: "2026-06-13T14:00:\(second < 10 ? "0" : "")\(second)Z")!
    }

    private func states(_ moments: [PreviewMoment]) -> [String] {
        moments.map { $0.isGone ? "gone" : $0.content.state.json }
    }

    @Test func aLocalUpdateShowsUntilTheNextPush() throws {
        let phone = try script(#"{"at":"2026-06-13T14:00:10Z","update":{"b":2,"c":null}}"#)
        let story = try phone.played(over: [push(5, ["a": 1, "c": 3]), push(20, ["a": 4, "c": 3])])
        #expect(states(story) == [#"{"a":1,"c":3}"#, #"{"a":1,"b":2}"#, #"{"a":4,"c":3}"#])
        #expect(story.map(\.isPush) == [true, false, true])
    }

    /// A clock that is ahead makes pushes look old until they are newer than its stamp; equal seconds pass.
    @Test func aNewerStampHidesPushesUntilTheyAreAsNew() throws {
        let phone = try script(
            #"{"at":"2026-06-13T14:00:10Z","update":{"a":2},"stamp":"2026-06-13T14:00:30.900Z"}"#)
        let story = try phone.played(over: [push(5, ["a": 1]), push(20, ["a": 3]), push(30, ["a": 4])])
        #expect(states(story) == [#"{"a":1}"#, #"{"a":2}"#, #"{"a":2}"#, #"{"a":4}"#])
        #expect(story[2].cause.hasSuffix("newer stamp"))
        #expect(!story[2].isPush)
        #expect(story[2].alert == nil)
    }

    @Test func anOlderStampAndAnEndedActivityIgnoreLocalUpdates() throws {
        let phone = try script(
            #"{"at":"2026-06-13T14:00:10Z","update":{"a":9},"stamp":"2026-06-13T14:00:04Z"}"#, "",
            #"{"at":"2026-06-13T14:00:30Z","update":{"a":9}}"#)
        let story = try phone.played(over: [push(5, ["a": 1]), push(20, ["a": 2], ends: .seconds(20))])
        #expect(states(story) == [#"{"a":1}"#, #"{"a":1}"#, #"{"a":2}"#, #"{"a":2}"#])
        #expect(story[1].cause.contains("older"))
        #expect(story[3].cause.contains("has ended"))
    }

    @Test func nothingIsSentToAPhoneThatIsTurnedOff() throws {
        let phone = try script(
            #"{"at":"2026-06-13T14:00:10Z","turnedOff":true}"#)
        let story = try phone.played(over: [push(5, ["a": 1]), push(20, ["a": 2]), push(30, ["a": 3], ends: .zero)])
        #expect(states(story) == [#"{"a":1}"#, "gone", "gone"])
        #expect(story[2].unsent == ["to an unfollowed card 2"])
        #expect(story[2].content.at == time(30))
    }

    /// A wrong year would otherwise pass for an update without effect.
    @Test(arguments: ["14:00:01", "14:00:41", "15:00:00"]) func anEventWithoutACardIsNamed(time: String) throws {
        let phone = try script(#"{"at":"2026-06-13T\#(time)Z","update":{"a":9}}"#)
        let error = #expect(throws: UsageError.self) {
            try phone.played(over: [push(5, ["a": 1]), push(20, ["a": 2], ends: .seconds(20))])
        }
        #expect(error?.description.contains(":1: at 2026-06-13T\(time).000Z the phone has no card") == true)
    }

    @Test(arguments: [
        ("[]", "no JSON object"), (#"{"at":"today","turnedOff":true}"#, "at: expected a time"),
        (#"{"at":"2026-06-13T14:00:10Z"}"#, "expected either update"),
        (#"{"at":"2026-06-13T14:00:10Z","update":1}"#, "expected either update"),
        (#"{"at":"2026-06-13T14:00:10Z","turnedOff":false}"#, "expected either update"),
        (#"{"at":"2026-06-13T14:00:10Z","update":{},"stamp":5}"#, "stamp: expected a time"),
        (#"{"at":"2026-06-13T14:00:10Z","updates":{}}"#, "updates: unknown"),
    ]) func aWrongLineIsNamed(line: String, message: String) {
        let error = #expect(throws: UsageError.self) {
            try script(#"{"at":"2026-06-13T14:00:01Z","turnedOff":true}"#, line)
        }
        #expect(error?.description.contains(":2: ") == true && error?.description.contains(message) == true)
    }

    @Test func linesAreInOrderOfTime() {
        #expect(throws: UsageError.self) {
            try script(
                #"{"at":"2026-06-13T14:00:10Z","turnedOff":true}"#, #"{"at":"2026-06-13T14:00:09Z","turnedOff":true}"#)
        }
    }
}
