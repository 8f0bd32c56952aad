import FanfareModel
import Testing

@testable import FanfareFeeds

@Suite struct FeedTimelineTests {
    private let noon = FeedTime(seconds: 1_781_265_600)

    private func line(_ seconds: Int, topic: String = "t") -> String {
        #"{"topic":"\#(topic)","at":\#(1_781_265_600 + seconds),"set":{"a":\#(seconds)}}"# + "\n"
    }

    /// Seconds after noon at which each of the feed's items arrives.
    private func arrivals(_ files: [String]) throws -> [Int64] {
        let folder = try Folder()
        for (number, text) in files.enumerated() { try folder.write("\(number).ndjson", text) }
        let feed = try Feed(paths: [folder.path])
        return feed.all().map { ($0.now - noon).milliseconds / 1000 }
    }

    private static let year = 365 * 86_400

    /// Nanoseconds mistaken for seconds are the last moment there is, and no feed may end the process with it.
    @Test func noTimeIsLaterThanTheLastMomentThereIs() {
        var timeline = FeedTimeline()
        let last = FeedTime(milliseconds: .max)
        timeline.pass(last, before: nil)
        #expect(!timeline.doubts(noon) && !timeline.doubts(last))
        timeline.pass(noon, before: nil)
        #expect(timeline.now == last)
    }

    @Test func oneEventWithAWrongYearMovesNothing() throws {
        let wrong = line(36 * FeedTimelineTests.year)
        #expect(try arrivals([line(0) + line(1) + wrong + line(3) + line(4)]) == [0, 1, 3, 3, 4])
        #expect(try arrivals([wrong + line(3) + line(4)]) == [3, 3, 4], "it may be the first one")
        #expect(try arrivals([line(0) + line(1) + wrong]) == [0, 1, 1], "or the last")
    }

    /// A file's later events must not wait until the other files have come to that year.
    @Test func oneEventWithAWrongYearHoldsUpNoOtherFile() throws {
        let wrong = line(36 * FeedTimelineTests.year)
        #expect(
            try arrivals([line(0) + wrong + line(2), line(1, topic: "u") + line(5, topic: "u")]) == [0, 1, 2, 2, 5])
    }

    /// A line that cannot be read may stand behind it.
    @Test func anUnreadableLineDoesNotHideTheNextEvent() throws {
        let wrong = line(36 * FeedTimelineTests.year)
        #expect(try arrivals([line(0) + wrong + "{\n\n{}\n" + line(3)]) == [0, 3, 3, 3, 3])
    }

    @Test func hoursBetweenTwoMatchesStay() throws {
        #expect(try arrivals([line(0) + line(4 * 3600) + line(4 * 3600 + 1)]) == [0, 14_400, 14_401])
        #expect(try arrivals([line(0) + line(4 * 3600)]) == [0, 14_400], "before the last event, too")
        #expect(try arrivals([line(0) + line(4 * 3600) + line(1)]) == [0, 1, 1], "but not for one alone")
    }

    @Test func timeNeverGoesBack() throws {
        #expect(try arrivals([line(10) + line(3) + line(11)]) == [10, 10, 11])
    }
}
