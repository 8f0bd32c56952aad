import FanfareCore
import FanfareFeeds
import Foundation
import Testing

@testable import Fanfare

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

    @Test(arguments: 0..<20 as Range<UInt64>) func howTheBytesAreCutChangesNothing(seed: UInt64) {
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
