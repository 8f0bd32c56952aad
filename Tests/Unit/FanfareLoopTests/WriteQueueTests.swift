import Testing

@testable import FanfareLoop

@Suite struct WriteQueueTests {
    /// Appends bytes without spare memory.
    private func append(_ bytes: [UInt8], to queue: inout WriteQueue) {
        bytes.withUnsafeBytes { queue.append($0) { _ in } }
    }

    private func bytes(_ lent: UnsafeRawBufferPointer?) -> [UInt8]? { lent.map { Array($0) } }

    @Test func writeThatTheSystemTakesWholeLeavesNothing() {
        var queue = WriteQueue()
        let nothing = bytes(queue.beginWrite())
        #expect(nothing == nil)
        append([1, 2], to: &queue)
        append([3], to: &queue)
        let gathered = (queue.count, queue.gatheredBytes)
        #expect(gathered == (3, 3))
        let written = bytes(queue.beginWrite())
        #expect(written == [1, 2, 3])
        let unanswered = (queue.count, queue.unsentBytes(inFlight: 0))
        #expect(unanswered == (3, 3), "the system has not answered")
        let rest = bytes(queue.accepted(3, takeBack: { $0.removeAll() }))
        let after = (queue.count, queue.unsentBytes(inFlight: 0), queue.isSending)
        #expect(rest == nil && after == (0, 0, false))
    }

    @Test func restOfAWriteStaysInPlaceWhileOthersGather() {
        var queue = WriteQueue()
        append([1, 2, 3, 4], to: &queue)
        _ = queue.beginWrite()
        let rest = queue.accepted(1, takeBack: { _ in Issue.record("the rest is needed") })
        queue.requested()
        append([5, 6], to: &queue)
        let second = bytes(queue.beginWrite())
        #expect(bytes(rest) == [2, 3, 4] && second == nil)
        let during = (queue.isSending, queue.count, queue.unsentBytes(inFlight: 2))
        #expect(during == (true, 5, 4), "libuv has sent one byte more")
        queue.written { $0.removeAll() }
        let after = (queue.isSending, queue.count)
        #expect(after == (false, 2))
        let next = bytes(queue.beginWrite())
        #expect(next == [5, 6])
    }

    @Test func writeThatTheSystemRefusedIsUnsent() {
        var queue = WriteQueue()
        append([1, 2, 3, 4], to: &queue)
        _ = queue.beginWrite()
        append([5], to: &queue)
        let unsent = queue.unsentBytes(inFlight: 0)
        #expect(unsent == 5)
    }

    @Test func drainIsToldOnceAfterEachAppend() {
        var queue = WriteQueue()
        var told = [queue.takeDrain()]
        append([1], to: &queue)
        append([2], to: &queue)
        told += [queue.takeDrain(), queue.takeDrain()]
        append([3], to: &queue)
        told.append(queue.takeDrain())
        #expect(told == [false, true, false, true])
    }

    @Test func memoryIsAskedForWhenGatheringBegins() {
        var queue = WriteQueue()
        var asked = [0]
        for byte in 1...3 as ClosedRange<UInt8> { [byte].withUnsafeBytes { queue.append($0) { _ in asked[0] += 1 } } }
        #expect(asked == [1])
        _ = queue.beginWrite()
        [4].withUnsafeBytes { queue.append($0) { _ in asked[0] += 1 } }
        #expect(asked == [2])
    }
}
