import FanfareLog
import FanfareModel
import Testing

@testable import FanfareCLI

@Suite struct LogLineTests {
    @Test func aLineShowsTheKeyOfACall() throws {
        let now = FeedTime(seconds: 1_790_000_000)
        let key = CallKey(try IdempotencyKey("job/7"), content: 1)
        #expect(
            LogEntry(now: now, key: key, .tick).line(at: 3)
                == #"{"key":"job/7","kind":"tick","now":"2026-09-21T14:13:20.000Z","position":3}"# + "\n")
        #expect(!LogEntry(now: now, .tick).line(at: 3).contains("key"))
    }
}
