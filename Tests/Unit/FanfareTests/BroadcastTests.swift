import FanfareLoop
import Testing

@testable import Fanfare

@Suite(.timeLimit(.minutes(5))) struct BroadcastTests {
    private func heard(_ sequence: EngineSequence<Int>) async -> [Int] {
        var heard: [Int] = []
        for await element in sequence { heard.append(element) }
        return heard
    }

    @Test func everyListenerHearsWhatIsSaidFromThenOn() async {
        let broadcast = Broadcast<Int>()
        var speaker = Broadcast.Speaker(broadcast)
        let closure = Locked<[Int]>([])
        let number = broadcast.add { element in closure.withLock { $0.append(element) } }
        speaker.say(1)
        let first = EngineSequence(broadcast, buffering: 10)
        speaker.say(2)
        let second = EngineSequence(broadcast, buffering: 10)
        broadcast.remove(number)
        speaker.say(3)
        broadcast.finish()
        #expect(closure.withLock { $0 } == [1, 2])
        #expect(await heard(first) == [2, 3])
        #expect(await heard(second) == [3])
        #expect(await heard(EngineSequence(broadcast, buffering: 10)) == [], "it is over")
    }

    @Test func aSequenceThatNobodyHoldsIsForgotten() {
        let broadcast = Broadcast<Int>()
        #expect(!broadcast.hasListeners)
        do {
            let sequence = EngineSequence(broadcast, buffering: 1)
            #expect(broadcast.hasListeners && sequence.lost == 0)
        }
        #expect(!broadcast.hasListeners)
        broadcast.add { _ in }
        #expect(broadcast.hasListeners)
        broadcast.finish()
        #expect(!broadcast.hasListeners)
    }

    @Test func earlyAnnouncementsAreForTheFirstListener() async {
        let broadcast = Broadcast<Int>(keepingEarly: 2)
        var speaker = Broadcast.Speaker(broadcast)
        for number in 1...3 { speaker.say(number) }
        let first = EngineSequence(broadcast, buffering: 10)
        let second = EngineSequence(broadcast, buffering: 10)
        speaker.say(4)
        broadcast.finish()
        #expect(await heard(first) == [1, 2, 4])
        #expect(await heard(second) == [4])
    }

    // MARK: The buffer

    @Test(arguments: [1, 3, 16, 20, 100]) func theOldestElementsThatNobodyTakesGiveWay(capacity: Int) async {
        let broadcast = Broadcast<Int>()
        var speaker = Broadcast.Speaker(broadcast)
        let sequence = EngineSequence(broadcast, buffering: capacity)
        var iterator = sequence.makeAsyncIterator()
        var expected: [Int] = []
        // Elements are taken now and then, so that the ring wraps around.
        for number in 0..<70 {
            speaker.say(number)
            expected.append(number)
            if expected.count > capacity { expected.removeFirst() }
            if number % 3 == 2 { #expect(await iterator.next() == expected.removeFirst()) }
        }
        let lost = sequence.lost
        broadcast.finish()
        #expect(await heard(sequence) == expected)
        #expect(lost + expected.count + 23 == 70)
        #expect(await iterator.next() == nil)
    }

    @Test func aBufferOfNothingHoldsOne() async {
        let broadcast = Broadcast<Int>()
        var speaker = Broadcast.Speaker(broadcast)
        let sequence = EngineSequence(broadcast, buffering: -1)
        speaker.say(1)
        speaker.say(2)
        broadcast.finish()
        #expect(sequence.lost == 1)
        #expect(await heard(sequence) == [2])
    }

    /// Tasks that share a sequence get each element once; all of them end.
    @Test func severalTasksShareASequence() async {
        let buffer = EventBuffer<Int>(capacity: 1000)
        let tasks = (0..<4).map { _ in
            Task {
                var heard: [Int] = []
                while let element = await buffer.next() { heard.append(element) }
                return heard
            }
        }
        for number in 0..<500 {
            buffer.put(number)
            if number % 50 == 0 { await Task.yield() }
        }
        buffer.finish()
        var all: [Int] = []
        for task in tasks { all += await task.value }
        #expect(all.sorted() == Array(0..<500))
    }

    @Test func aTaskThatIsCancelledTakesNothingMore() async {
        let buffer = EventBuffer<Int>(capacity: 10)
        buffer.put(1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await buffer.next()
        }
        #expect(await task.value == nil, "a consumer that is slower than the stream ends, too")
        #expect(await buffer.next() == 1)
    }

    @Test func aTaskThatIsCancelledStopsWaiting() async {
        let buffer = EventBuffer<Int>(capacity: 10)
        let task = Task { await buffer.next() }
        await Task.yield()
        task.cancel()
        #expect(await task.value == nil)
        buffer.put(1)
        #expect(await buffer.next() == 1, "nothing went to the task that is gone")
    }
}
