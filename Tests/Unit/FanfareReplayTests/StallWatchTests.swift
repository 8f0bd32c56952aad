import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct StallWatchTests {
    private static let second: Int64 = 1_000_000_000

    private func watch(patience: Duration? = .seconds(10)) -> StallWatch {
        var watch = StallWatch(patience: patience)
        watch.begin(at: MonotonicTime(nanoseconds: Self.second))
        return watch
    }

    @Test func transportIsStalledWhenNothingIsAcceptedForLongerThanThePatience() {
        var watch = watch()
        let first = watch.isStalled(
            accepted: 7, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: 2 * Self.second))
        let inTime = watch.isStalled(
            accepted: 7, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: 12 * Self.second))
        let late = watch.isStalled(
            accepted: 7, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: 12 * Self.second + 1))
        #expect(!first && !inTime && late)
    }

    @Test func patienceBeginsWithTheReplay() {
        var watch = watch()
        let inTime = watch.isStalled(
            accepted: 0, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: 11 * Self.second))
        let late = watch.isStalled(
            accepted: 0, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: 11 * Self.second + 1))
        #expect(!inTime && late)
    }

    @Test(arguments: [(accepted: 8, owed: 3, isFeedOver: true), (7, 0, true), (7, 3, false)])
    func patienceBeginsAgainWithEachPushThatIsAcceptedAndWhileNobodyWaits(
        accepted: Int, owed: Int, isFeedOver: Bool
    ) {
        var watch = watch()
        _ = watch.isStalled(accepted: 7, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: Self.second))
        let now = watch.isStalled(
            accepted: accepted, owed: owed, isFeedOver: isFeedOver, at: MonotonicTime(nanoseconds: 20 * Self.second))
        let then = watch.isStalled(
            accepted: accepted, owed: 3, isFeedOver: true, at: MonotonicTime(nanoseconds: 30 * Self.second))
        #expect(!now && !then)
    }

    @Test func endlessPatienceNeverEnds() {
        var watch = watch(patience: nil)
        let isStalled = watch.isStalled(accepted: 0, owed: 1, isFeedOver: true, at: .never)
        #expect(!isStalled)
    }
}
