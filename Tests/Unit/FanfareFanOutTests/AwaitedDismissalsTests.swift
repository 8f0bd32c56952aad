import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AwaitedDismissalsTests {
    private static func taken(_ dismissals: inout AwaitedDismissals, at now: MonotonicTime) -> [TopicIndex] {
        var taken: [TopicIndex] = []
        while let topic = dismissals.takeDue(at: now) { taken.append(topic) }
        return taken
    }

    @Test func topicsAreTakenInTheOrderOfTheirTimes() {
        var dismissals = AwaitedDismissals()
        #expect(dismissals.due == nil)
        for (topic, time) in [(7, 30), (2, 10), (5, 20)] as [(TopicIndex, MonotonicTime)] {
            dismissals.note(topic, leavingAt: time)
        }
        #expect(dismissals.due == 10 && dismissals.violation() == nil)
        let early = Self.taken(&dismissals, at: 9)
        let first = Self.taken(&dismissals, at: 20)
        #expect(early == [] && first == [2, 5] && dismissals.due == 30 && dismissals.violation() == nil)
        let last = Self.taken(&dismissals, at: 40)
        #expect(last == [7] && dismissals.due == nil && dismissals.violation() == nil)
    }

    @Test func aTopicThatIsNotedAgainIsTakenOnceAtItsNewestTime() {
        var dismissals = AwaitedDismissals()
        for time in [10, 10, 30] as [MonotonicTime] { dismissals.note(4, leavingAt: time) }
        let early = Self.taken(&dismissals, at: 20)
        let taken = Self.taken(&dismissals, at: 30)
        #expect(early == [] && taken == [4] && dismissals.due == nil && dismissals.violation() == nil)
    }
}
