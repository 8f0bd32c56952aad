import FanfareModel
import Foundation
import Synchronization
import Testing

@testable import FanfareFeeds

@Suite struct SubscriberFileTests {
    private final class Told: Sendable {
        let lines = Mutex<[String]>([])
        let progress = Mutex<[SubscriberFile.Progress]>([])
    }

    private func read(_ text: [UInt8], _ told: Told = Told()) throws -> ([Subscription], SubscriberFile) {
        let path = FileManager.default.temporaryDirectory.appending(path: "subscribers-\(UUID().uuidString)").path
        try Data(text).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try SubscriberFile(
            path: path, report: { line in told.lines.withLock { $0.append(line) } },
            progress: { progress in told.progress.withLock { $0.append(progress) } })
        var all: [Subscription] = []
        try file.read {
            all.append($0)
            return nil
        }
        // Another shard's turn: the same once more, and nothing is told twice.
        var again = 0
        try file.read { _ in
            again += 1
            return nil
        }
        #expect(again == all.count)
        return (all, file)
    }

    /// Some editors put a byte order mark before the first line.
    @Test(arguments: ["match/1 01\nmatch/2 02\n", "# people\nmatch/1 01\nmatch/2 02\n"])
    func aByteOrderMarkIsNoPartOfTheFirstTopic(text: String) throws {
        let (all, file) = try read([0xEF, 0xBB, 0xBF] + Array(text.utf8))
        #expect(all.map(\.audience) == [.topic(TopicID("match/1")), .topic(TopicID("match/2"))])
        #expect(file.brokenLines == 0)
    }

    /// `--subscribers <(zcat people.gz)`: more than is looked at beforehand.
    @Test(.timeLimit(.minutes(5)), arguments: [1, 20_000]) func subscribersThroughAPipeAreReadFromTheFirstLine(
        count: Int
    ) throws {
        let folder = try Folder()
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let text = (0..<count).map { "match/1 \(String(0x1000_0000 + $0, radix: 16))\n" }.joined()
        Thread {
            try? Data(text.utf8).write(to: URL(fileURLWithPath: path), options: [])
        }.start()
        let file = try SubscriberFile(path: path, report: { Issue.record("\($0)") })
        var tokens: Set<[UInt8]> = []
        try file.read {
            tokens.insert($0.token)
            return nil
        }
        #expect(tokens.count == count)
        let error = #expect(throws: FeedError.self) { try file.read { _ in nil } }
        #expect(error?.reason.contains("can be read only once") == true)
    }

    @Test func everyFieldOfASubscribersLineIsRead() throws {
        let text = """
            # a comment, and a blank line

            match/1 00ff7F
            \tmatch/1,match/2\t0102   activity=anna-card subscriber=anna alerts=essential frequent\r
            order/17 03 quiet=22:00-07:30-05:00/none app=com.example.beta/development
            order/17 04 app=com.example.scores started=2026-06-13T14:00:00Z
            """
        let (all, file) = try read(Array(text.utf8))
        #expect(all.count == 4 && file.subscribers == 4 && file.brokenLines == 0)
        try #require(all.count == 4)
        #expect(all[0].audience == .topic(TopicID("match/1")) && all[0].token == [0, 255, 127])
        #expect(all[0].preferences == nil && all[0].app == nil)
        #expect(all[1].audience == .lineup([TopicID("match/1"), TopicID("match/2")]))
        #expect(all[1].activity == ActivityID(hashing: "anna-card"))
        #expect(all[1].subscriber == ActivityID(hashing: "anna").rawValue)
        #expect(all[1].preferences == Preferences(alerts: .essential, frequentUpdates: true))
        let quiet = Preferences.QuietHours(from: 1320, until: 450, utcOffset: -300, breakthrough: .none)
        #expect(all[2].preferences == Preferences(quietHours: quiet))
        #expect(all[2].app == AppID(bundleID: "com.example.beta", environment: .development))
        #expect(all[3].app == AppID(bundleID: "com.example.scores"))
        #expect(all.map(\.startedAt) == [nil, nil, nil, FeedTime(rfc3339: "2026-06-13T14:00:00Z")])
        #expect(Set(all.map(\.activity)).count == 4)
    }

    /// A subscription that is read is written as another line, which means the same.
    @Test func aWrittenLineIsReadBackAsItWas() throws {
        let text = """
            match/1 00ff7f started=2026-06-13T14:00:00.123Z
            match/1,match/2 0102 activity=anna=1 subscriber=anna favourite=match/2 alerts=essential frequent
            order/17 03 quiet=22:00-07:30-05:00/none app=com.example.beta/development alerts=none
            order/17 04 subscriber=Käse app=com.example.scores quiet=00:00-23:59+00:00

            """
        let path = FileManager.default.temporaryDirectory.appending(path: "subscribers-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func read(_ bytes: [UInt8]) throws -> [(Subscription, SubscriberNames)] {
            try Data(bytes).write(to: URL(filePath: path))
            var found: [(Subscription, SubscriberNames)] = []
            try SubscriberFile(path: path, report: { Issue.record("\($0)") }).readNamed { subscription, names in
                found.append((subscription, names))
                return nil
            }
            return found
        }
        let first = try read(Array(text.utf8))
        try #require(first.count == 4)
        #expect(first[1].1 == SubscriberNames(activity: "anna=1", subscriber: "anna"))
        #expect(
            first[1].0.audience
                == .lineup([TopicID("match/1"), TopicID("match/2")], favourite: TopicID("match/2")))
        var bytes: [UInt8] = []
        for (subscription, names) in first { #expect(SubscriberFile.write(subscription, names, to: &bytes)) }
        let again = try read(bytes)
        #expect(again.map(\.0) == first.map(\.0) && again.map(\.1) == first.map(\.1))
    }

    @Test(arguments: ["a b", "#a", "a,b", "", "a\n"]) func aSubscriptionThatALineCannotExpressIsNotWritten(
        topic: String
    ) {
        let subscription = Subscription(
            audience: .topic(TopicID(topic)), activity: "x", subscriber: 1, token: [1])
        var bytes: [UInt8] = [9]
        #expect(!SubscriberFile.write(subscription, SubscriberNames(), to: &bytes))
        let named = Subscription(audience: .topic(TopicID("a")), activity: "x", subscriber: 1, token: [1])
        #expect(!SubscriberFile.write(named, SubscriberNames(subscriber: "anna b"), to: &bytes))
        let long = String(repeating: "x", count: SubscriberFile.lineSizeMax.bytes)
        #expect(!SubscriberFile.write(named, SubscriberNames(subscriber: long), to: &bytes))
        #expect(bytes == [9])
    }

    @Test(arguments: [
        ("match/1", "the token is missing"), ("match/1 0", "in hex, not 1 digits"), ("match/1 0g", "not in hex"),
        ("match/1 \(String(repeating: "00", count: 513))", "1026 digits"), ("a,,b 00", "a topic's id"),
        ("a,a 00", "each of them once"), ("\(String(repeating: "m", count: 513)) 00", "512 bytes"),
        ("a 00 alerts=some", "expected all, essential or none"), ("a 00 quiet=22-7", "22:00-07:00+02:00"),
        ("a 00 quiet=22:00-22:00+00:00", "quiet: expected"), ("a 00 quiet=24:00-07:00+00:00", "quiet: expected"),
        ("a 00 quiet=22:00-07:00+15:00", "quiet: expected"), ("a 00 quiet=22:00-07:00+02:00/some", "quiet: expected"),
        ("a 00 app=/development", "bundle id"), ("a 00 app=b/testing", "bundle id"),
        ("a 00 activity=", "expected activity="), ("a 00 started=14:00", "started: expected a time"),
        ("a 00 favourite=a", "favourite: expected"), ("a,b 00 favourite=c", "favourite: expected"),
        ("a b0 00ff", "after the token"), ("a 00 00ff", "after the token"), ("\u{0}\u{0}", "the token is missing"),
    ])
    func aBrokenLineIsToldWithItsPlace(line: String, reason: String) throws {
        let told = Told()
        let (all, file) = try read(Array("good 01\n\(line)\ngood 02\n".utf8), told)
        #expect(all.map(\.token) == [[1], [2]] && file.brokenLines == 1)
        let lines = told.lines.withLock(\.self)
        #expect(lines.count == 1 && lines[0].hasPrefix("\(file.path):2: ") && lines[0].contains(reason), "\(lines)")
        #expect(!lines.joined().contains("00ff"), "it may be a token")
    }

    @Test func aLineMayNameEachTopicThatAnyRulesAllow() throws {
        let topic = String(repeating: "m", count: TopicID.sizeMax.bytes)
        #expect(SubscriberFile.takes(topic: topic) && !SubscriberFile.takes(topic: topic + "m"))
        let (all, file) = try read(Array("\(topic) 01\n\(topic),a 02\n\(topic)m 03\n".utf8))
        #expect(all.map(\.audience) == [.topic(TopicID(topic)), .lineup([TopicID(topic), TopicID("a")])])
        #expect(file.brokenLines == 1)
    }

    /// A lineup of as many topics as there may be, with ids, a favourite and a token of the greatest size; a name fills the rest of the line.
    @Test func theLongestLineIsReadAndWrittenAndOneMoreByteIsTooMuch() throws {
        let topics = (0..<AudienceKey.topicsMax).map { number in
            let name = "match/\(number)/"
            return name + String(repeating: "m", count: TopicID.sizeMax.bytes - name.utf8.count)
        }
        let token = [UInt8](repeating: 7, count: Subscription.tokenSizeMax.bytes)
        let hex = String(repeating: "07", count: token.count)
        let start = "\(topics.joined(separator: ",")) \(hex) subscriber="
        let end = " favourite=\(topics[63])"
        let name = String(repeating: "a", count: SubscriberFile.lineSizeMax.bytes - start.utf8.count - end.utf8.count)
        let told = Told()
        let (all, file) = try read(Array("\(start)\(name)\(end)\n\(start)\(name)a\(end)\n".utf8), told)
        #expect(file.brokenLines == 1 && all.map(\.token) == [token])
        let lines = told.lines.withLock(\.self)
        #expect(lines == ["\(file.path):2: longer than \(SubscriberFile.lineSizeMax)"])
        let subscription = try #require(all.first)
        #expect(subscription.audience == .lineup(topics.map { TopicID($0) }, favourite: TopicID(topics[63])))
        var bytes: [UInt8] = []
        let isWritten = SubscriberFile.write(subscription, SubscriberNames(subscriber: name), to: &bytes)
        #expect(isWritten && bytes.count == SubscriberFile.lineSizeMax.bytes + 1)
        let isLongerWritten = SubscriberFile.write(subscription, SubscriberNames(subscriber: name + "a"), to: &bytes)
        #expect(!isLongerWritten && bytes.count == SubscriberFile.lineSizeMax.bytes + 1)
    }

    @Test func subscriberLinesThatAreNoTextAreBroken() throws {
        let told = Told()
        let (all, file) = try read(
            Array("a\u{20}".utf8) + [0x30, 0x31, 0x20, 0xff, 0x0a, 0xff, 0x20, 0x30, 0x31], told)
        #expect(all.isEmpty && file.brokenLines == 2)
        let (none, long) = try read([UInt8](repeating: 0x61, count: 40_000))
        #expect(none.isEmpty && long.brokenLines == 1)
    }

    @Test func manyBrokenLinesAreCountedAndNotTold() throws {
        let told = Told()
        let (_, file) = try read(Array(String(repeating: "broken\n", count: 1000).utf8), told)
        #expect(file.brokenLines == 1000)
        #expect(told.lines.withLock(\.count) == SubscriberFile.faultsReportedMax + 1)
    }

    @Test func aGeneratedSubscriberFileCanBeRead() throws {
        var text: [UInt8] = []
        SubscriberFile.generate(5000, following: [TopicID("a"), TopicID("b")], seed: 3) { text += $0 }
        let told = Told()
        let (all, file) = try read(text, told)
        #expect(all.count == 5000 && file.brokenLines == 0)
        #expect(Set(all.map(\.activity)).count == 5000 && Set(all.map(\.token.count)) == [54, 80])
        #expect(all.count { $0.preferences != nil } > 500)
        #expect((4000...6000).contains(file.expectedCount))
        #expect(
            told.progress.withLock { $0.last }
                == .init(subscribers: 5000, sizeRead: .bytes(text.count), sizeExpected: .bytes(text.count))
        )
    }

    @Test func aFileThatIsNotThereIsAnError() {
        #expect(throws: FeedError.self) { try SubscriberFile(path: "/nowhere/at/all", report: { _ in }) }
    }
}
