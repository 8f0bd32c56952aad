import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareFeeds
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareReplay

/// A feed that is written while it is replayed, and the clocks of the machine meanwhile.
@Suite struct LiveReplayTests {
    private static let start = ManualClock.start.milliseconds / 1000

    private func board(_ number: Int, at seconds: Double) -> String {
        #"{"topic":"board/1","at":\#(seconds),"set":{"number":\#(number)}}"# + "\n"
    }

    /// The decision log of lines that come in these chunks, each as soon as all of the one before has been decided.
    ///
    /// - Parameter between: what time does before the next chunk is written.
    private func log(of chunks: [String], _ between: @escaping (ManualClock) -> Void = { _ in }) throws -> [String] {
        let clock = ManualClock()
        let input = Pipe()
        let writing = input.fileHandleForWriting
        var rest = chunks[...]
        var linesLeft = 0
        func writeOn() {
            guard let chunk = rest.popFirst() else { return writing.closeFile() }
            linesLeft = chunk.count { $0 == "\n" }
            writing.write(Data(chunk.utf8))
        }
        var log: [String] = []
        var options = ReplayOptions(paths: ["-"])
        options.clock = clock.source
        let output = ReplayOutput(
            decision: { line in
                let line = String(decoding: line, as: UTF8.self)
                log.append(line)
                guard line.hasPrefix(#"{"type":"event""#) else { return }
                linesLeft -= 1
                guard linesLeft == 0 else { return }
                between(clock)
                writeOn()
            }, report: { _ in })
        // The replay closes the descriptor that it reads.
        let replay = try Replay(options, output: output, input: dup(input.fileHandleForReading.fileDescriptor))
        writeOn()
        _ = replay.run()
        return log
    }

    @Test func twoLinesOfAnotherYearInOnePieceMoveNoTime() throws {
        let start = Double(Self.start)
        let year = start + 365 * 86_400
        let kickOff =
            #"{"topic":"match/1","topicKind":"football","at":\#(start),"kind":"period","#
            + #""fact":{"id":"k","kind":"period","period":"1H"}}"# + "\n"
        let log = try log(of: [kickOff, board(1, at: year) + board(2, at: year + 1), board(3, at: start)])
        #expect(log.filter { $0.contains(#""kind":"silence""#) } == [])
        #expect(log.filter { $0.contains("is 31536000 s ahead, so it counts as now") }.count == 1, "\(log)")
        #expect(log.allSatisfy { $0.contains(#""now":"\#(ManualClock.start)""#) || !$0.contains(#""type":"event""#) })
    }

    /// A change waits two seconds at most, however often the feed speaks meanwhile.
    @Test(arguments: [0, -3600, 3600]) func timeGoesOnBetweenTheLinesWhereverTheClockIsSet(step: Int64) throws {
        let lines = (0..<20).map { board($0, at: Double(Self.start) + Double($0) / 2) }
        var isSet = false
        let log = try log(of: lines) { clock in
            clock.pass(.milliseconds(500))
            if !isSet { clock.set(by: .seconds(step)) }
            isSet = true
        }
        let last = try #require(log.lastIndex { $0.hasPrefix(#"{"type":"event""#) })
        let versions = log[..<last].count { $0.contains(#""version":"#) }
        #expect(versions >= 5, "of 20 lines in 10 s; \(log)")
    }

    /// The machine's clock was an hour behind, and is put right. Log time follows for hours; what the feed says of its own times is
    /// compared with the clock as it is.
    @Test func aClockThatIsPutRightMakesNoLineEarly() throws {
        let lines = (0..<30).map { board($0, at: Double(Self.start) + 3600 + Double($0)) }
        var isSet = false
        let log = try log(of: lines) { clock in
            clock.pass(.seconds(1))
            if !isSet { clock.set(by: .seconds(3600)) }
            isSet = true
        }
        let events = log.filter { $0.hasPrefix(#"{"type":"event""#) }
        #expect(events.count == 30)
        #expect(events[0].contains("ahead, so it counts as now"), "nothing speaks for it: \(events[0])")
        #expect(events[10...].allSatisfy { !$0.contains(" ahead, ") }, "\(events)")
    }

    /// Stage on which somebody acts while a live feed is replayed to its followers.
    private final class Stage {
        let clock = ManualClock()
        fileprivate let input = Pipe()
        var options = ReplayOptions(paths: ["-"])
        /// Called with the number of lines that have been decided.
        var decided: (Int) -> Void = { _ in }
        /// Several times a second of the machine's.
        var progressed: (ReplayProgress) -> Void = { _ in }
        private(set) var interrupt: () -> Void = {}
        private(set) var reports: [String] = []
        private(set) var log: [String] = []

        func write(_ lines: String) { input.fileHandleForWriting.write(Data(lines.utf8)) }
        func end() { input.fileHandleForWriting.closeFile() }

        func run(transports: [TransportFactory]? = nil) throws -> ReplaySummary {
            options.clock = clock.source
            let output = ReplayOutput(
                decision: { [unowned self] in
                    let line = String(decoding: $0, as: UTF8.self)
                    log.append(line)
                    if line.hasPrefix(#"{"type":"event""#) { decided(log.count { $0.hasPrefix(#"{"type":"event""#) }) }
                }, report: { [unowned self] in reports.append($0) }, progress: { [unowned self] in progressed($0) })
            let replay = try Replay(
                options, output: output, input: dup(input.fileHandleForReading.fileDescriptor), transports: transports)
            interrupt = replay.interrupt
            return replay.run()
        }
    }

    /// A service that answers nothing.
    private static let deaf: [TransportFactory] = [
        { _, shard, context in
            let transport = WillingTransport(shard, context.clock)
            transport.isBlocked = true
            return transport
        }
    ]

    /// The second state waits two seconds for a third one.
    @Test func aSignalSendsWhatWaitsForItsInterval() throws {
        let stage = Stage()
        stage.options.subscribers.count = 1
        var hasFirst = false
        stage.progressed = { [unowned stage] in
            guard !hasFirst, $0.counts.pushes.accepted == 1 else { return }
            hasFirst = true
            stage.write(self.board(2, at: Double(Self.start)))
        }
        stage.decided = { [unowned stage] in if $0 == 2 { stage.interrupt() } }
        stage.write(board(1, at: Double(Self.start)))
        let summary = try stage.run()
        #expect(summary.interrupted)
        #expect(summary.decisions.updates == 2 && summary.counts.pushes.accepted == 2)
        #expect(summary.undelivered == 0 && stage.reports == [])
    }

    /// All of them were read in one piece.
    @Test func aSignalDecidesWhatWasTaken() throws {
        let stage = Stage()
        stage.decided = { [unowned stage] in if $0 == 1 { stage.interrupt() } }
        stage.write((0..<1000).map { #"{"topic":"board/\#($0)","at":\#(Self.start),"set":{"n":1}}"# + "\n" }.joined())
        // Of the one after them only a part has come.
        stage.write(#"{"topic":"board/"#)
        let summary = try stage.run()
        #expect(summary.interrupted)
        let taken = summary.decisions.outcomes[.published] ?? 0
        #expect(taken > 512, "more than a turn's; a pipe holds as many")
        #expect(summary.events == taken && stage.reports == [])
    }

    /// Eight seconds, or less where people have less patience.
    @Test(arguments: [nil, 3600, 3, 0]) func pushesThatCannotBeSentAreToldInTime(patience: Int?) throws {
        let stage = Stage()
        stage.options.subscribers.count = 3
        stage.options.patience = patience.map { .seconds($0) }
        var seconds = 0
        var isInterrupted = false
        stage.decided = { [unowned stage] _ in
            isInterrupted = true
            stage.interrupt()
        }
        stage.progressed = { [unowned stage] _ in
            guard isInterrupted else { return }
            seconds += 1
            stage.clock.pass(.seconds(1))
        }
        stage.write(board(1, at: Double(Self.start)))
        let summary = try stage.run(transports: Self.deaf)
        #expect(summary.interrupted && summary.undelivered == 3)
        let limit = min(8, patience ?? 8)
        #expect((limit...limit + 1).contains(seconds))
        #expect(stage.reports == ["stopped after \(limit) s: 3 activities lack their newest state"])
    }

    @Test func aSecondSignalStopsAtOnce() throws {
        let stage = Stage()
        stage.options.subscribers.count = 3
        var looks = 0
        stage.decided = { [unowned stage] _ in stage.interrupt() }
        stage.progressed = { [unowned stage] in
            guard $0.counts.owed == 3 else { return }
            looks += 1
            if looks == 2 { stage.interrupt() }
        }
        stage.write(board(1, at: Double(Self.start)))
        let summary = try stage.run(transports: Self.deaf)
        #expect(looks == 2 && summary.interrupted && summary.undelivered == 3)
        #expect(stage.reports == ["stopped at once: 3 activities lack their newest state"])
    }

    /// An order for all topics is none, and neither is one that is refused.
    @Test func madeUpSubscribersFollowWhatIsShown() throws {
        let stage = Stage()
        stage.options.subscribers.count = 10
        stage.write(board(1, at: Double(Self.start)))
        stage.write(#"{"topic":"*","at":\#(Self.start),"kind":"mute","operator":"mute"}"# + "\n")
        let tooLong = String(repeating: "x", count: 600)
        stage.write(#"{"topic":"\#(tooLong)","at":\#(Self.start),"set":{"n":1}}"# + "\n")
        stage.end()
        let summary = try stage.run()
        #expect(summary.counts.activities == 10 && summary.fates.refused == [:])
        #expect(summary.events == 3 && summary.counts.pushes.accepted == 10)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func theCutsBetweenPiecesOfAFeedChangeNothing(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        let start = Double(Self.start)
        let years = [0, 0, 1, -1, 30].map { $0 * 365.0 * 86_400 }
        var text = (0..<30).map { board($0, at: start + years.randomElement(using: &dice)! + Double($0)) }.joined()
        if Bool.random(using: &dice) { text += "{\n" }
        let bytes = Array(text.utf8)

        func items(cut: () -> Int) -> [String] {
            let clock = ManualClock()
            var lines = LiveLines(clock: clock.source)
            var items: [String] = []
            func take() {
                while let (now, item) = lines.peek() {
                    items.append("\(now) \(item)")
                    lines.advance()
                }
            }
            var rest = bytes[...]
            while !rest.isEmpty {
                let chunk = Array(rest.prefix(cut()))
                chunk.withUnsafeBytes { lines.take($0) }
                rest = rest.dropFirst(chunk.count)
                take()
            }
            lines.end(nil)
            take()
            #expect(lines.isAtEnd)
            return items
        }
        #expect(items { Int.random(in: 1...200, using: &dice) } == items { bytes.count }, "seed \(seed)")
    }
}
