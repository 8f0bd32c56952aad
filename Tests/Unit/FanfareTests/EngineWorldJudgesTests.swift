import FanfareModel
import Testing

/// The judges of an `EngineWorld`, each of one rule.
@Suite struct EngineWorldJudgesTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func eventsAreDecidedInTheOrderInWhichTheyWereTaken() {
        var events = DecidedEvents()
        for id in ["1", "2", "3"] { events.took(id) }
        let (first, third) = (events.decides("1"), events.decides("3"))
        #expect(first == nil && third == "event 3 is decided, which was not the next one taken")
        #expect(events.waiting == 1)
        let (last, beyond) = (events.decides("3"), events.decides(nil))
        #expect(last == nil && beyond == "event without a name is decided, which was not the next one taken")
    }

    @Test func aLineIsToldOnceAMinuteWhateverItsNumbers() {
        var lines = ToldLines()
        let (first, other) = (lines.heard("slow (3)", at: Self.time(100)), lines.heard("dead (1)", at: Self.time(101)))
        #expect(first == nil && other == nil)
        let again = lines.heard("slow (4)", at: Self.time(158))
        #expect(again == "told twice in a minute: slow ")
        let later = lines.heard("slow (5)", at: Self.time(217))
        #expect(later == nil)
    }
}
