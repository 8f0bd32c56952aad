import FanfareLoop
import Testing

@testable import Fanfare

/// Callers that wait for room: each gets one answer, in order of arrival.
@Suite(.timeLimit(.minutes(5))) struct RoomLineTests {
    private typealias Line = RoomLine<Int>

    /// Starts a caller in a task of its own and returns once it has a place in the line.
    private func caller(
        of line: Line, bringing element: Int?, until: MonotonicTime = .never
    ) async -> Task<Line.Answer, Never> {
        let before = line.count
        let task = Task { await line.wait(with: element, until: until, wake: {}) }
        while line.count == before { await Task.yield() }
        return task
    }

    @Test func theFirstAreAdmittedAsLongAsThereIsRoom() async {
        let line = Line()
        var callers: [Task<Line.Answer, Never>] = []
        for number in 0..<5 { callers.append(await caller(of: line, bringing: number)) }
        var pushed: [Int] = []
        func push(_ element: Int) -> UInt64? {
            pushed.append(element)
            return UInt64(100 + element)
        }
        #expect(!line.admit(room: 0, push: push))
        #expect(line.admit(room: 2, push: push))
        #expect(pushed == [0, 1] && line.count == 3 && line.violation() == nil)
        #expect(await callers[0].value == .admitted(100))
        #expect(await callers[1].value == .admitted(101))
        #expect(line.admit(room: 10, push: push))
        #expect(pushed == [0, 1, 2, 3, 4] && line.count == 0)
        #expect(!line.admit(room: 10, push: push), "nobody waits")
    }

    /// Another caller takes the room first: the first one in the line stays first.
    @Test func aCallerThatFindsNoRoomAfterAllStaysFirstInTheLine() async {
        let line = Line()
        let first = await caller(of: line, bringing: 1)
        let second = await caller(of: line, bringing: 2)
        #expect(!line.admit(room: 2) { _ in nil })
        #expect(line.count == 2)
        var pushed: [Int] = []
        #expect(
            line.admit(room: 2) {
                pushed.append($0)
                return 7
            })
        #expect(pushed == [1, 2])
        #expect(await first.value == .admitted(7))
        #expect(await second.value == .admitted(7))
    }

    @Test func aCallerWithoutACommandIsToldOfRoomAndTakesNone() async {
        let line = Line()
        let curious = await caller(of: line, bringing: nil)
        let second = await caller(of: line, bringing: 2)
        #expect(line.admit(room: 1) { _ in 9 }, "the second one is to be looked at again, though nothing was pushed")
        #expect(await curious.value == .admitted(nil))
        #expect(line.count == 1, "the room is the first one's")
        line.close()
        #expect(await second.value == .stopped)
    }

    @Test func patienceEndsAtItsTime() async {
        let line = Line()
        let patient = await caller(of: line, bringing: 1)
        let late = await caller(of: line, bringing: 2, until: MonotonicTime(nanoseconds: 50))
        let later = await caller(of: line, bringing: 3, until: MonotonicTime(nanoseconds: 70))
        #expect(line.withdraw(at: MonotonicTime(nanoseconds: 49)) == MonotonicTime(nanoseconds: 50))
        #expect(line.withdraw(at: MonotonicTime(nanoseconds: 50)) == MonotonicTime(nanoseconds: 70))
        #expect(await late.value == .late)
        #expect(line.violation() == nil)
        #expect(line.withdraw(at: MonotonicTime(nanoseconds: 80)) == nil)
        #expect(await later.value == .late)
        #expect(line.count == 1)
        #expect(line.admit(room: 1) { _ in 1 })
        #expect(await patient.value == .admitted(1))
    }

    @Test func aCancelledCallerLeavesTheLineAndTakesNothing() async {
        let line = Line()
        let first = await caller(of: line, bringing: 1)
        let second = await caller(of: line, bringing: 2)
        first.cancel()
        #expect(await first.value == .cancelled)
        #expect(line.count == 1)
        var pushed: [Int] = []
        #expect(
            line.admit(room: 2) {
                pushed.append($0)
                return 0
            })
        #expect(pushed == [2])
        #expect(await second.value == .admitted(0))
        // The task was cancelled before it joined the line.
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            return await line.wait(with: 3, until: .never, wake: {})
        }
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        #expect(line.count == 0 && line.violation() == nil)
    }

    @Test func firstCallersAreHeldUntilTheLastOfThemIsGone() async {
        let line = Line()
        #expect(line.arrivals == 0 && !line.hasCaller(amongFirst: 5))
        let watcher = await caller(of: line, bringing: nil)
        #expect(line.arrivals == 0 && !line.hasCaller(amongFirst: 5), "a caller that only watches brings nothing")
        let first = await caller(of: line, bringing: 1)
        let second = await caller(of: line, bringing: 2)
        let arrivals = line.arrivals
        let third = await caller(of: line, bringing: 3)
        #expect(
            arrivals == 2 && line.arrivals == 3 && line.hasCaller(amongFirst: arrivals)
                && !line.hasCaller(amongFirst: 0))
        #expect(line.admit(room: 2) { _ in 0 })
        #expect(line.hasCaller(amongFirst: arrivals), "the second one waits")
        second.cancel()
        #expect(await second.value == .cancelled)
        #expect(
            !line.hasCaller(amongFirst: arrivals) && line.hasCaller(amongFirst: 3),
            "one who came later is no reason to wait")
        #expect(line.admit(room: 1) { _ in 0 })
        #expect(!line.hasCaller(amongFirst: 3))
        _ = (await watcher.value, await first.value, await third.value)
    }

    @Test func nobodyWaitsInAClosedLine() async {
        let line = Line()
        var callers: [Task<Line.Answer, Never>] = []
        for number in 0..<3 { callers.append(await caller(of: line, bringing: number)) }
        line.close()
        for caller in callers { #expect(await caller.value == .stopped) }
        #expect(line.count == 0 && line.violation() == nil)
        #expect(await line.wait(with: 1, until: .never, wake: {}) == .stopped)
        #expect(!line.admit(room: 1) { _ in 0 })
    }

    /// Many callers join the line behind one that waits, and are cancelled.
    @Test func theLineForgetsThoseWhoAreGone() async {
        let line = Line()
        let first = await caller(of: line, bringing: 0)
        for number in 1...500 {
            let gone = await caller(of: line, bringing: number)
            gone.cancel()
            #expect(await gone.value == .cancelled)
        }
        #expect(line.count == 1 && line.numbersKept < 100 && line.violation() == nil, "\(line.numbersKept)")
        #expect(line.admit(room: 1) { _ in 0 })
        #expect(await first.value == .admitted(0))
    }
}

@Suite(.timeLimit(.minutes(5))) struct ReplyTests {
    @Test func theFirstAnswerCounts() async {
        let early = Reply<Int>()
        early.give(1)
        early.give(2)
        #expect(await early.value() == 1)
        let late = Reply<Int>()
        let task = Task { await late.value() }
        late.give(3)
        #expect(await task.value == 3)
    }

    @Test func aCancelledCallerGetsNoReply() async {
        let reply = Reply<Int>()
        let task = Task { await reply.value() }
        task.cancel()
        #expect(await task.value == nil)
        reply.give(1)
    }
}
