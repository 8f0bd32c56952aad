import FanfareLoop
import Foundation
import ServerTestSupport
import Synchronization
import Testing

@Suite struct LoopTests {
    @Test func timersFireInTheOrderOfTheirDeadlines() throws {
        var fired: [Int] = []
        try withLoop { loop in
            for (name, delay) in [(3, 180), (1, 60), (2, 120), (0, 0)] {
                LoopTimer(loop: loop) {
                    fired.append(name)
                    if name == 3 { loop.stop() }
                }.start(after: .milliseconds(delay))
            }
        }
        #expect(fired == [0, 1, 2, 3])
    }

    @Test func aTimerIsNeverEarly() throws {
        var waited: Int64 = 0
        try withLoop { loop in
            var begun: Int64 = 0
            let timer = LoopTimer(loop: loop) {
                waited = Clock.monotonicNanoseconds() - begun
                loop.stop()
            }
            // Started in the middle of a long turn, whose beginning is what libuv would count from.
            LoopTimer(loop: loop) {
                let busyUntil = Clock.monotonicNanoseconds() + 5_000_000
                while Clock.monotonicNanoseconds() < busyUntil {}
                begun = Clock.monotonicNanoseconds()
                timer.start(after: .microseconds(2500))
            }.start(after: .zero)
        }
        // libuv's clock is cut to whole milliseconds, so one of the three may have partly passed.
        #expect(waited >= 2_000_000)
    }

    @Test func aTimerRepeatsUntilItIsStopped() throws {
        var count = 0
        try withLoop { loop in
            var timer: LoopTimer?
            timer = LoopTimer(loop: loop) {
                count += 1
                if count == 3 {
                    timer?.stop()
                    LoopTimer(loop: loop) { loop.stop() }.start(after: .milliseconds(10))
                }
            }
            timer?.start(after: .milliseconds(1), repeating: .milliseconds(1))
        }
        #expect(count == 3)
    }

    @Test(arguments: [Duration.seconds(-5), .seconds(Int64.max)])
    func aTimerTakesAnyDuration(duration: Duration) throws {
        try withLoop { loop in
            LoopTimer(loop: loop) {}.start(after: duration, repeating: duration)
            LoopTimer(loop: loop) { loop.stop() }.start(after: .milliseconds(5))
        }
    }

    @Test func closingTimersInCallbacksEndsThem() throws {
        var fired: [String] = []
        try withLoop { loop in
            let later = LoopTimer(loop: loop) { fired.append("closed by another timer") }
            var own: LoopTimer?
            own = LoopTimer(loop: loop) {
                fired.append("own")
                own?.close()
                own?.close()
                own?.start(after: .zero)
                later.close()
            }
            own?.start(after: .zero, repeating: .milliseconds(1))
            // Due in the same turn, after the one that closes it.
            later.start(after: .zero)
            LoopTimer(loop: loop) { loop.stop() }.start(after: .milliseconds(10))
        }
        #expect(fired == ["own"])
    }

    @Test func closingTheLoopInACallbackClosesEverything() throws {
        let loop = try Loop()
        var fired = 0
        LoopTimer(loop: loop) {
            fired += 10
            loop.close()
        }.start(after: .zero)
        // Due in the same turn, after the one that closes.
        let other = LoopTimer(loop: loop) { fired += 1 }
        other.start(after: .zero)
        loop.run()
        #expect(fired == 10)
        #expect(loop.isClosed && other.isClosed)
        loop.run()
        loop.close()
        other.start(after: .zero)
        other.close()
    }

    @Test func nothingIsLeftAfterTheLoopHasClosed() throws {
        final class Witness {}
        weak var witness: Witness?
        weak var abandoned: Loop?
        do {
            let loop = try Loop()
            let captured = Witness()
            witness = captured
            abandoned = loop
            loop.onTurn = { _ = captured }
            LoopTimer(loop: loop) { _ = (captured, loop) }.start(after: .seconds(100))
            _ = try Wakeup(loop: loop) { _ = (captured, loop) }
            _ = try SignalWatcher(loop: loop, signal: .user1) { _ = (captured, loop) }
            _ = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { _ in _ = (captured, loop) }
            let stream = try TCPStream(loop: loop)
            stream.onRead = { _ in _ = (captured, loop, stream) }
            let tls = try TLSStream(over: TCPStream(loop: loop), context: .client(), host: "localhost")
            tls.onRead = { _ in _ = (captured, loop, tls) }
            for path in ["/dev/null", "/dev/zero"] {
                let source = try ByteSource.file(loop: loop, path: path)
                source.onBytes = { _ in _ = (captured, loop, source) }
                source.resume()
                if path == "/dev/zero" { source.pause() }
            }
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            defer { close(ends[1]) }
            let piped = try ByteSource(loop: loop, descriptor: ends[0], name: "pipe")
            piped.onBytes = { _ in _ = (captured, loop, piped) }
            loop.stop()
            loop.run()
            loop.close()
        }
        #expect(witness == nil)
        #expect(abandoned == nil)
    }

    @Test func aTurnEndsAfterTimersAndBeforeSleep() throws {
        var seen: [String] = []
        try withLoop { loop in
            LoopTimer(loop: loop) { seen.append("timer") }.start(after: .milliseconds(2))
            loop.onTurn = {
                guard seen.last == "timer" || seen.last == "turn" else { return }
                seen.append("turn")
                // Were there a sleep before the next turn, the watchdog would end it.
                if seen.count < 4 { loop.turnAgain() } else { loop.stop() }
            }
        }
        #expect(seen == ["timer", "turn", "turn", "turn"])
    }

    /// The timer of many connections is started once for all events of a turn.
    @Test func aTimerIsCalledOnceAtTheEndOfATurnThatAsksForIt() throws {
        var seen: [String] = []
        try withLoop { loop in
            let armed = LoopTimer(loop: loop) { loop.stop() }
            armed.onTurnEnd = {
                seen.append("end")
                armed.start(after: .milliseconds(1))
            }
            for name in ["first", "second"] {
                LoopTimer(loop: loop) {
                    seen.append(name)
                    armed.callAtTurnEnd()
                }.start(after: .milliseconds(2))
            }
        }
        #expect(seen == ["first", "second", "end"])
    }

    @Test func stoppingBeforeRunningReturnsAtOnce() throws {
        let loop = try Loop()
        defer { loop.close() }
        LoopTimer(loop: loop) { Issue.record("ran") }.start(after: .seconds(1))
        loop.stop()
        loop.run()
    }

    /// Two threads count up and signal; the loop must see the last count of each, whatever signals fell together.
    @Test func noWakeUpOfTwoThreadsIsLost() throws {
        final class Counts: Sendable {
            let written = Atomic(0)
            let asked = Atomic(0)
        }
        let rounds = 20_000
        var wakeUps = 0
        try withLoop { loop in
            let counts = Counts()
            let wakeup = try Wakeup(loop: loop) {
                wakeUps += 1
                // A lost signal shows as a hang: each thread waits until its own count has been seen before it goes on
                // now and then, and the loop stops only at the last one.
                let seen = counts.written.load(ordering: .acquiring)
                counts.asked.store(seen, ordering: .releasing)
                if seen == 2 * rounds { loop.stop() }
            }
            let signal = wakeup.signal
            let threads = try (0..<2).map { number in
                try LoopThread(name: "signaller \(number)") { _ in
                    for round in 1...rounds {
                        let mine = counts.written.add(1, ordering: .acquiringAndReleasing).newValue
                        signal.signal()
                        guard round.isMultiple(of: 64) else { continue }
                        let patience = Clock.monotonicNanoseconds() + 60_000_000_000
                        while counts.asked.load(ordering: .acquiring) < mine {
                            if Clock.monotonicNanoseconds() > patience { return }
                            // The loop's thread may have no processor to itself.
                            sched_yield()
                        }
                    }
                }
            }
            loop.run()
            loop.stop()  // `withLoop` runs it once more
            for thread in threads { thread.join() }
        }
        #expect(wakeUps > 0 && wakeUps <= 2 * rounds)
    }

    @Test func signalsBeforeTheFirstTurnCoalesce() throws {
        var wakeUps = 0
        try withLoop { loop in
            let wakeup = try Wakeup(loop: loop) {
                wakeUps += 1
                loop.turnAgain()
            }
            for _ in 0..<1000 { wakeup.signal.signal() }
            LoopTimer(loop: loop) { loop.stop() }.start(after: .milliseconds(5))
        }
        #expect(wakeUps == 1)
    }

    /// The signaller goes on while, and after, the loop closes.
    @Test func signallingAClosedLoopDoesNothing() throws {
        final class Flag: Sendable { let isSet = Atomic(false) }
        for _ in 0..<50 {
            let loop = try Loop()
            let wakeup = try Wakeup(loop: loop) {}
            let signal = wakeup.signal
            let stop = Flag()
            let thread = try LoopThread(name: "signaller") { _ in
                while !stop.isSet.load(ordering: .acquiring) { signal.signal() }
                signal.signal()
            }
            LoopTimer(loop: loop) { loop.stop() }.start(after: .milliseconds(1))
            loop.run()
            loop.close()
            stop.isSet.store(true, ordering: .releasing)
            thread.join()
            signal.signal()
        }
    }

    @Test func aThreadHasItsNameAndItsLoop() throws {
        final class Answer: Sendable { let turns = Atomic(0) }
        let answer = Answer()
        let thread = try LoopThread(name: "a very long name of a thread") { loop in
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            guard name == "a very long nam\n" else { return }
            LoopTimer(loop: loop) {
                answer.turns.add(1, ordering: .relaxed)
                loop.stop()
            }.start(after: .zero)
            loop.run()
        }
        thread.join()
        thread.join()
        #expect(answer.turns.load(ordering: .relaxed) == 1)
    }

    /// A thread stays on one of the processors that it was allowed before, whatever number it is given.
    @Test(arguments: [0, 1, 1000]) func aPinnedThreadHasOneProcessor(number: Int) throws {
        final class Answer: Sendable { let processors = Atomic(0) }
        let answer = Answer()
        let thread = try LoopThread(name: "pinned") { _ in
            guard (try? LoopThread.pinToProcessor(number)) != nil else { return }
            let status = try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
            // A range or a list is no number.
            let count = line.flatMap { $0.split(separator: "\t").last }.flatMap { Int($0) } == nil ? 0 : 1
            answer.processors.store(count, ordering: .relaxed)
        }
        thread.join()
        #expect(answer.processors.load(ordering: .relaxed) == 1)
    }

    @Test func aSignalIsSeen() throws {
        var seen = 0
        try withLoop { loop in
            let watcher = try SignalWatcher(loop: loop, signal: .user1) {
                seen += 1
                loop.stop()
            }
            _ = watcher
            kill(getpid(), SIGUSR1)
        }
        #expect(seen == 1)
    }

    @Test func aBrokenPipeIsHarmless() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            loop.close()
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            close(ends[0])
            let isBroken = write(ends[1], "x", 1) == -1 && errno == EPIPE
            exit(isBroken ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func aLoopThatIsDroppedClosesItself() throws {
        weak var dropped: Loop?
        do {
            let loop = try Loop()
            loop.turnAgain()
            dropped = loop
        }
        #expect(dropped == nil)
    }

    @Test func clocksAreInTheirUnits() {
        let earlier = Date().timeIntervalSince1970
        let wall = Double(Clock.wallMilliseconds()) / 1000
        #expect(wall > earlier - 5 && wall < Date().timeIntervalSince1970 + 5)
        let before = Clock.monotonicNanoseconds()
        #expect(Clock.monotonicNanoseconds() >= before)
        #expect(Clock.processCPUNanoseconds() > 0)
        #expect(Clock.peakResidentBytes() > 1 << 20)
    }
}
