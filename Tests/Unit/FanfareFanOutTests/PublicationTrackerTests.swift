import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct PublicationTrackerTests {
    @Test func lastAudienceCompletesThePublication() {
        var tracker = PublicationTracker()
        tracker.track(7, audiences: 1, freshness: 3, at: 100)
        tracker.addAudience(to: 7)
        #expect(tracker.complete(7, at: 150) == nil)
        #expect(tracker.count == 1 && tracker.violation() == nil)
        #expect(tracker.complete(7, at: 180) == .init(took: 80, freshness: 3))
        #expect(tracker.isEmpty)
        #expect(tracker.complete(7, at: 190) == nil)
    }

    @Test func overtakenPublicationIsNotCompleted() {
        var tracker = PublicationTracker()
        tracker.track(7, audiences: 2, freshness: 0, at: 100)
        let wasOpen = tracker.overtake(7)
        let isStillOpen = tracker.overtake(7)
        #expect(wasOpen && !isStillOpen)
        #expect(tracker.complete(7, at: 150) == nil)
        tracker.addAudience(to: 7)
        #expect(tracker.isEmpty && tracker.violation() == nil)
    }

    @Test func oldestArrivalIsThatOfWhatIsOpen() {
        var tracker = PublicationTracker()
        #expect(tracker.oldestArrival == nil)
        for serial in UInt64(1)...3 {
            tracker.track(serial, audiences: 1, freshness: 0, at: MonotonicTime(nanoseconds: Int64(serial) * 10))
        }
        #expect(tracker.oldestArrival == 10)
        _ = tracker.complete(1, at: 40)
        #expect(tracker.oldestArrival == 20)
    }

    /// One publication stays tracked for long, while others are closed in random order.
    @Test(arguments: UInt64(1)...20) func orderOfArrivalIsNoLongerThanWhatIsOpen(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tracker = PublicationTracker()
        var open: [UInt64: MonotonicTime] = [:]
        for serial in UInt64(1)...5000 {
            let now = MonotonicTime(nanoseconds: Int64(serial / 3))
            tracker.track(serial, audiences: 1, freshness: 0, at: now)
            open[serial] = now
            let closes = Int.random(in: 0...(serial > 3000 ? 3 : 2), using: &random)
            for closed in open.keys.sorted().dropFirst().shuffled(using: &random).prefix(closes) {
                open[closed] = nil
                if closed % 2 == 0 { _ = tracker.complete(closed, at: now) } else { _ = tracker.overtake(closed) }
            }
            if serial % 1000 == 0, let oldest = open.keys.min() {
                open[oldest] = nil
                _ = tracker.overtake(oldest)
            }
            #expect(tracker.oldestArrival == open.values.min())
            #expect(tracker.violation() == nil)
        }
    }

    @Test func ownSerialsAreNeverTheCores() {
        var tracker = PublicationTracker()
        let serials = (0..<3).map { _ in tracker.nextOwnSerial() }
        #expect(Set(serials).count == 3)
        #expect(serials.allSatisfy { $0 > 1 << 63 })
    }

    @Test func openPublicationThatNoAudienceLacksIsAViolation() {
        var tracker = PublicationTracker()
        tracker.track(1, audiences: 0, freshness: 0, at: 0)
        #expect(tracker.violation() != nil)
    }

    @Test func ownSerialThatWasNotGivenIsAViolation() {
        var tracker = PublicationTracker()
        tracker.track(tracker.nextOwnSerial(), audiences: 1, freshness: 0, at: 0)
        #expect(tracker.violation() == nil)
        tracker.track(1 << 63 + 2, audiences: 1, freshness: 0, at: 0)
        #expect(tracker.violation() != nil)
    }
}
