import FanfareDecisions
import FanfareModel
import Testing

/// The lines that `--decisions` and `--states` write.
@Suite struct DecisionLogTests {
    func line(_ record: DecisionRecord) -> String {
        var bytes: [UInt8] = []
        record.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func aRecordsLineHasEveryField() {
        let record = DecisionRecord(
            origin: .event, topic: TopicID("match/1"), at: at(60.25), now: at(61), id: "g\"1",
            seq: 18_446_744_073_709_551_615,
            kind: "goal", outcome: .published, version: 3, causes: ["c1", "g\"1"], reason: "essential – at once",
            alert: .granted, alertReason: "goal")
        #expect(
            line(record) == #"""
                {"type":"event","topic":"match/1","at":"2018-05-13T14:01:00.250Z","now":"2018-05-13T14:01:01.000Z",\#
                "id":"g\"1","seq":18446744073709551615,"kind":"goal","outcome":"published","version":3,\#
                "causes":["c1","g\"1"],"reason":"essential – at once","alert":"granted","alertReason":"goal"}

                """#)
    }

    @Test func aRecordsLineLeavesOutAbsentFields() {
        let record = DecisionRecord(
            origin: .timer, topic: nil, at: nil, now: at(0), kind: "flush", outcome: .unchanged, reason: "")
        #expect(
            line(record) == """
                {"type":"timer","now":"2018-05-13T14:00:00.000Z","kind":"flush","outcome":"unchanged","reason":""}

                """)
    }

    @Test func recordsOfAStoryAreWrittenAsLines() {
        let orders = PatchFeed()
        var story = Scripted()
        story.apply(orders.set(0, ["n": 1], seq: 1))
        story.apply(orders.set(1, ["n": 2], seq: 2))
        story.finish()
        let lines = story.records.map(line)
        #expect(
            lines == [
                """
                {"type":"event","topic":"order/1","at":"2018-05-13T14:00:00.000Z","now":"2018-05-13T14:00:00.000Z","seq":1,\
                "kind":"patch","outcome":"published","version":1,"causes":["patch"],"reason":"first state"}\n
                """,
                """
                {"type":"event","topic":"order/1","at":"2018-05-13T14:00:01.000Z","now":"2018-05-13T14:00:01.000Z","seq":2,\
                "kind":"patch","outcome":"conflated","reason":"until 2018-05-13T14:00:02.000Z, 2 s after version 1"}\n
                """,
                """
                {"type":"timer","topic":"order/1","now":"2018-05-13T14:00:02.000Z","kind":"flush","outcome":"published",\
                "version":2,"causes":["patch"],"reason":"one change waited"}\n
                """,
            ])
    }

    @Test func topicStatesAreWrittenAsLines() {
        let orders = PatchFeed()
        var story = Scripted()
        story.apply(orders.start(0))
        story.apply(orders.end(10, ["b": 2, "a": 1]))
        story.apply(orders.set(20, ["c": true]))
        story.apply(FootballFeed().pass(0))
        var bytes: [UInt8] = []
        for topic in story.core.topics { topic.write(to: &bytes) }
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"topic":"order/1","version":2,"ended":true,"state":{"a":1,"b":2,"c":true},"published":{"a":1,"b":2},\
                "short":{"compactLeading":"1","compactTrailing":"","minimal":"1"}}
                {"topic":"match/1","version":0,"ended":false,"state":{"awayRed":0,"awayScore":0,"awayYellow":0,\
                "clockRunning":false,"compactLeading":" 0","compactTrailing":"0 ","homeRed":0,"homeScore":0,\
                "homeYellow":0,"minimal":"0–0","period":"PRE"},"published":null}

                """)
    }
}
