import Testing

@testable import Fanfare

@Suite struct CallerArrivalsTests {
    /// Uncertain cards share a group as long as the arrivals at their reports are equal.
    @Test func arrivalsAreEqualOnlyWhileNoCallerComesToEitherLine() {
        let arrivals = CallerArrivals(requests: 4, changes: 6)
        #expect(arrivals == CallerArrivals(requests: 4, changes: 6))
        #expect(arrivals != CallerArrivals(requests: 5, changes: 6))
        #expect(arrivals != CallerArrivals(requests: 4, changes: 7))
        #expect(arrivals != CallerArrivals(requests: 6, changes: 4), "the lines are not interchangeable")
    }
}
