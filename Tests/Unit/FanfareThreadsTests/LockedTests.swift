import Dispatch
import FanfareThreads
import Testing

@Suite struct LockedTests {
    private struct Trouble: Error {}

    @Test func oneThreadAtATimeChangesTheValue() {
        let count = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { count.withLock { $0 += 1 } }
        }
        let all = count.withLock { $0 }
        #expect(all == 80_000)
    }

    @Test func aChangeThatFailsLeavesTheLockOpen() {
        let count = Locked(0)
        #expect(throws: Trouble.self) {
            try count.withLock { count in
                count = 1
                throw Trouble()
            }
        }
        let found = count.withLock { $0 }
        #expect(found == 1)
    }
}
