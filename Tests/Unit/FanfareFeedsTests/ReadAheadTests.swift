import Foundation
import Testing

@testable import FanfareFeeds

@Suite struct ReadAheadTests {
    /// Lets a thread read the numbers from 1 to a limit.
    ///
    /// - Returns: the last number that the thread has read, once it has ended.
    private static func read(_ ahead: ReadAhead<Int>, upTo limit: Int) -> AsyncStream<Int> {
        let (ended, end) = AsyncStream.makeStream(of: Int.self)
        Thread.detachNewThread {
            var number = 0
            ahead.fill {
                guard number < limit else { return nil }
                number += 1
                return number
            }
            end.yield(number)
            end.finish()
        }
        return ended
    }

    @Test func itemsComeOnceInTheirOrderHoweverFewMayWait() async {
        for limit in [1, 2, 64] {
            let ahead = ReadAhead<Int>(limit: limit)
            let ended = Self.read(ahead, upTo: 100)
            var taken: [Int] = []
            while let number = await ahead.next() { taken.append(number) }
            #expect(taken == Array(1...100))
            let afterTheEnd = await ahead.next()
            #expect(afterTheEnd == nil)
            for await read in ended { #expect(read == 100) }
        }
    }

    @Test func taskThatWaitsGetsTheItemThatComes() async {
        let ahead = ReadAhead<Int>(limit: 1)
        async let first = ahead.next()
        async let second = ahead.next()
        for await read in Self.read(ahead, upTo: 1) { #expect(read == 1) }
        let both = await [first, second]
        #expect(both.compactMap(\.self) == [1], "the other one gets the end")
    }

    /// The item that finds no room has been read, and nothing after it is.
    @Test func readerEndsWhenNobodyIsLeftToTakeAnItem() async {
        let ahead = ReadAhead<Int>(limit: 3)
        let ended = Self.read(ahead, upTo: 100)
        let first = await ahead.next()
        #expect(first == 1)
        ahead.abandon()
        for await read in ended { #expect(read <= 5) }
    }

    @Test func cancelledTaskGetsNoItem() async {
        let ahead = ReadAhead<Int>(limit: 3)
        let ended = Self.read(ahead, upTo: 1)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await ahead.next()
        }
        task.cancel()
        let nothing = await task.value
        #expect(nothing == nil)
        for await read in ended { #expect(read == 1) }
        let item = await ahead.next()
        #expect(item == 1)
    }

    /// Neither the item that comes afterwards nor the room for one is lost with the task.
    @Test func taskThatIsCancelledWhileItWaitsLosesNothing() async {
        let ahead = ReadAhead<Int>(limit: 1)
        for _ in 1...3 {
            let task = Task { await ahead.next() }
            while ahead.waitingCount == 0 { await Task.yield() }
            task.cancel()
            let nothing = await task.value
            #expect(nothing == nil)
        }
        let ended = Self.read(ahead, upTo: 5)
        var taken: [Int] = []
        while let number = await ahead.next() { taken.append(number) }
        #expect(taken == [1, 2, 3, 4, 5])
        for await read in ended { #expect(read == 5) }
    }

    @Test func taskThatWaitsGetsTheEndWhenNobodyIsToTakeAnItem() async {
        let ahead = ReadAhead<Int>(limit: 1)
        let task = Task { await ahead.next() }
        while ahead.waitingCount == 0 { await Task.yield() }
        ahead.abandon()
        let nothing = await task.value
        #expect(nothing == nil)
        for await read in Self.read(ahead, upTo: 5) { #expect(read == 1, "the first item finds nobody") }
    }
}
