import Dispatch
import Synchronization
import Testing

@testable import FanfareCLI

@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// Number of looks in vain before the progress gave up.
    private func looks(at progress: Progress) -> Int {
        var looks = 0
        func isDone() -> Bool {
            looks += 1
            return false
        }
        #expect(!progress.wait(.milliseconds(1), until: isDone, wake: {}))
        return looks
    }

    /// A week of a log that is read along.
    @Test func progressThatNobodyWaitedForIsNotKept() {
        let progress = Progress()
        for _ in 0..<1000 { progress.made() }
        #expect(looks(at: progress) == 2)
    }

    @Test func progressToldTooLateIsNotLeftForTheNextWait() {
        let progress = Progress()
        func isDoneMeanwhile() -> Bool {
            progress.made()
            return true
        }
        for _ in 0..<100 { #expect(progress.wait(nil, until: isDoneMeanwhile, wake: {})) }
        #expect(looks(at: progress) == 2)
    }

    @Test func aWaitingThreadIsToldOfEachProgress() {
        let progress = Progress()
        let made = Count()
        func make() {
            DispatchQueue.global().async {
                made.value.add(1, ordering: .sequentiallyConsistent)
                progress.made()
            }
        }
        #expect(progress.wait(nil, until: { made.value.load(ordering: .sequentiallyConsistent) == 100 }, wake: make))
    }
}
