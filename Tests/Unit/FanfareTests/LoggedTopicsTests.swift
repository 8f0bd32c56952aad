import FanfareLog
import FanfareModel
import Testing

@testable import CrashSimulation

@Suite struct LoggedTopicsTests {
    private static let topic = TopicID("topic")

    private static func entry(_ number: Int, at second: Int64, isEnd: Bool = false) -> LogEntry {
        let event = FeedEvent(
            topic: topic, topicKind: .generic, at: FeedTime(milliseconds: second * 1000), id: "\(number)",
            kind: "number", lifecycle: isEnd ? .end : nil)
        return LogEntry(now: event.at, .event(event, wall: nil))
    }

    @Test func aTopicIsReadFurtherWithEachReading() {
        let log = MemoryLog()
        var topics = LoggedTopics()
        log.append([Self.entry(1, at: 10)])
        topics.read(log)
        #expect(topics.newest[Self.topic] == "1" && topics.endedAt[Self.topic] == nil)
        log.append([Self.entry(2, at: 20), Self.entry(3, at: 70, isEnd: true)])
        topics.read(log)
        topics.read(log)
        #expect(topics.newest[Self.topic] == "3" && topics.endedAt[Self.topic] == FeedTime(milliseconds: 70_000))
    }

    @Test func eachRuleDismissesATopicAtItsTime() {
        let log = MemoryLog()
        var topics = LoggedTopics()
        #expect(topics.dismissal(of: Self.topic, by: .immediate) == nil)
        log.append([Self.entry(1, at: 10), Self.entry(2, at: 70, isEnd: true)])
        topics.read(log)
        let rules: [(Dismissal, Int64)] = [
            (.immediate, 70), (.after(.seconds(30)), 100), (.proportional, 70 + 15 * 60),
            (.at(FeedTime(milliseconds: 90_000)), 90), (.at(FeedTime(milliseconds: 50_000)), 70),
        ]
        for (rule, second) in rules {
            #expect(topics.dismissal(of: Self.topic, by: rule) == FeedTime(milliseconds: second * 1000), "\(rule)")
        }
    }

    @Test func anOutageDoesNotCountForADismissalByLogTime() {
        let log = MemoryLog()
        var topics = LoggedTopics()
        log.append([Self.entry(1, at: 10), Self.entry(2, at: 70, isEnd: true)])
        topics.read(log)
        let rule = Dismissal.after(.seconds(60))
        func recall(_ truth: Int64, _ log: Int64) -> RecallTimes {
            RecallTimes(truth: FeedTime(milliseconds: truth * 1000), log: FeedTime(milliseconds: log * 1000))
        }
        func latest(_ rule: Dismissal, _ recall: RecallTimes) -> Int64? {
            topics.latestDismissal(of: Self.topic, by: rule, since: recall)?.milliseconds
        }
        let (early, late) = (recall(500, 100), recall(500, 136))
        #expect(!topics.isDismissed(Self.topic, by: rule, before: early) && latest(rule, early) == 530_000)
        #expect(topics.isDismissed(Self.topic, by: rule, before: late) && latest(rule, late) == 500_000)
        #expect(latest(rule, recall(40, 20)) == 150_000)
        let date = Dismissal.at(FeedTime(milliseconds: 300_000))
        #expect(topics.isDismissed(Self.topic, by: date, before: early) && latest(date, early) == 500_000)
        #expect(!topics.isDismissed(Self.topic, by: date, before: recall(200, 100)))
        #expect(latest(date, recall(200, 100)) == 300_000)
    }

    @Test func anEndWhoseBeginningWasLostBeginsItsTopicAsWell() {
        let log = MemoryLog()
        var topics = LoggedTopics()
        log.append([Self.entry(1, at: 10, isEnd: true)])
        topics.read(log)
        #expect(topics.newest.count == 1 && topics.endedAt.count == 1)
    }
}
