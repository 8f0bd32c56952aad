import Foundation
import Glibc
import Testing

@testable import FanfareCLI

/// A decision log that earlier runs have written, and what a run that goes on makes of it.
@Suite struct RecalledLinesTests {
    /// Some are longer than a piece that is read at a time.
    private static let lines = (0..<40).map {
        Array("line \($0) ".utf8) + [UInt8](repeating: 120, count: $0 * 500) + [10]
    }
    private static let whole = Data(lines.joined())

    private func recall(_ content: Data, _ lines: [[UInt8]]) throws -> (content: Data, fault: String?) {
        let path = NSTemporaryDirectory() + "fanfare-recalled-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try content.write(to: URL(fileURLWithPath: path))
        let recalled = try RecalledLines(path)
        for line in lines { recalled.take(line) }
        let fault = recalled.finish()
        return (try Data(contentsOf: URL(fileURLWithPath: path)), fault)
    }

    @Test func aFileThatHasTheRecalledLinesStaysAsItIs() throws {
        let result = try recall(Self.whole, Self.lines)
        #expect(result.content == Self.whole && result.fault == nil)
    }

    @Test func anEmptyFileGetsAllRecalledLines() throws {
        #expect(try recall(Data(), Self.lines).content == Self.whole)
    }

    @Test func anythingBehindTheRecalledLinesIsCutOff() throws {
        for rest in ["x", "another line\n", String(repeating: "\0", count: 100_000)] {
            #expect(try recall(Self.whole + Data(rest.utf8), Self.lines).content == Self.whole)
        }
    }

    @Test func aFileThatEndsAnywhereGetsTheOtherRecalledLines() throws {
        for length in stride(from: 0, to: Self.whole.count, by: 4999) {
            #expect(try recall(Self.whole.prefix(length), Self.lines).content == Self.whole, "\(length) bytes")
        }
    }

    @Test func recalledLinesAreWrittenAnewFromADifferenceOn() throws {
        for place in stride(from: 0, to: Self.whole.count, by: 4999) {
            var content = Self.whole
            content[place] ^= 1
            #expect(try recall(content, Self.lines).content == Self.whole, "byte \(place)")
        }
    }

    @Test func aFileIsEmptiedWhenNoLinesAreRecalled() throws {
        #expect(try recall(Self.whole, []).content == Data())
    }

    @Test func aFileThatCannotBeOpenedIsNamed() {
        let error = #expect(throws: UsageError.self) { try RecalledLines("/no/such/file") }
        #expect(error?.description.contains("/no/such/file") == true)
    }

    /// Each write to this device fails, as on a full disk. People wait for pushes, and nobody waits for a file alone.
    @Test func onlyAReplayWithoutPushesEndsAtLinesThatCannotBeWritten() throws {
        for isPushing in [false, true] {
            let recalled = try RecalledLines("/dev/full")
            for line in Self.lines { recalled.take(line) }
            var (report, refusal): (String?, String?) = (nil, nil)
            do throws(UsageError) { report = try recalled.finish(isPushing: isPushing) } catch {
                refusal = error.description
            }
            #expect((report != nil) == isPushing && (refusal == nil) == isPushing)
            let line = report ?? refusal ?? ""
            #expect(line.hasPrefix("--decisions /dev/full: cannot be written: "), "\(line)")
            #expect(line.hasSuffix("; pushing goes on without the missing lines of earlier runs") == isPushing)
        }
    }

    /// A limit on the size of files stands for a full disk. In a process of its own, because the limit is everybody's. The next run, which has room,
    /// could not tell a torn line from a whole one.
    @Test func aLineThatADiskHasRoomForAPartOfIsCutOff() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let size = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            let path = NSTemporaryDirectory() + "fanfare-recalled-\(UUID())"
            let whole = Data(RecalledLinesTests.lines.joined())
            for room in [1, 7, 3000, 70_000, whole.count - 1] {
                try Data().write(to: URL(fileURLWithPath: path))
                var limit = rlimit()
                getrlimit(size, &limit)
                limit.rlim_cur = rlim_t(room)
                setrlimit(size, &limit)
                let recalled = try RecalledLines(path)
                for line in RecalledLinesTests.lines { recalled.take(line) }
                let fault = recalled.finish()
                limit.rlim_cur = limit.rlim_max
                setrlimit(size, &limit)
                let kept = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(fault?.contains("cannot be written") == true, "room for \(room) bytes")
                #expect(
                    whole.starts(with: kept) && kept.count <= room && kept.last ?? 10 == 10, "room for \(room) bytes")
                let next = try RecalledLines(path)
                for line in RecalledLinesTests.lines { next.take(line) }
                let later = next.finish()
                let content = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(later == nil && content == whole, "room for \(room) bytes")
            }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// A kill tears the last line of a file at any of its bytes.
    @Test func aTornLastLineIsWrittenAnew() throws {
        let lines = Array(Self.lines.prefix(2))
        let content = Data(lines.joined())
        for length in lines[0].count..<content.count {
            #expect(try recall(content.prefix(length), lines) == (content, nil), "\(length) bytes")
            // Nothing precedes a line that was decided after a checkpoint and torn.
            let behind = try recall(content.prefix(length), behind: 1, Array(lines.suffix(1)))
            #expect(behind == (content, nil), "\(length) bytes behind a checkpoint")
        }
    }

    @Test func aReplayWithAllItsLinesReportsNothing() throws {
        let path = NSTemporaryDirectory() + "fanfare-recalled-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.whole.write(to: URL(fileURLWithPath: path))
        for isPushing in [false, true] {
            let recalled = try RecalledLines(path)
            for line in Self.lines { recalled.take(line) }
            #expect(try recalled.finish(isPushing: isPushing) == nil)
        }
    }

    /// Lines from before a checkpoint are not recalled, and stay.
    private func recall(
        _ content: Data, behind count: Int, _ lines: [[UInt8]]
    ) throws -> (content: Data, notice: String?) {
        let path = NSTemporaryDirectory() + "fanfare-recalled-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try content.write(to: URL(fileURLWithPath: path))
        let recalled = try RecalledLines(path)
        recalled.skip(UInt64(count))
        for line in lines { recalled.take(line) }
        #expect(recalled.finish() == nil)
        return (try Data(contentsOf: URL(fileURLWithPath: path)), recalled.notice)
    }

    @Test func linesFromBeforeACheckpointStay() throws {
        for count in [0, 1, 17, 39, 40] {
            let recalled = Array(Self.lines[count...])
            #expect(try recall(Self.whole, behind: count, recalled) == (Self.whole, nil), "\(count)")
            // Torn anywhere behind them, or in the middle of what came after.
            let before = Self.lines[..<count].reduce(0) { $0 + $1.count }
            for length in stride(from: before, to: Self.whole.count, by: 7919) {
                let result = try recall(Self.whole.prefix(length), behind: count, recalled)
                #expect(result == (Self.whole, nil), "\(count) lines, \(length) bytes")
            }
        }
    }

    /// Lines missing from before a checkpoint stay missing, and are told; no restart writes a line twice for them.
    @Test func linesThatAreMissingBeforeACheckpointDisturbNoLater() throws {
        let (first, then) = (Self.lines[..<20], Array(Self.lines[20...]))
        // Begun after the first 20; or the machine has lost 18 and 19, and a part of 17.
        let lost = Data(first.prefix(17).joined())
        for (content, missing) in [(Data(), 20), (lost + Data(Self.lines[17].prefix(3)), 3)] {
            let kept = missing == 20 ? Data() : lost
            let once = try recall(content, behind: 20, then)
            #expect(once.content == kept + Data(then.joined()))
            #expect(once.notice?.contains("\(missing) of the 20 decisions") == true, "\(once.notice ?? "")")
            for _ in 0..<2 {
                #expect(try recall(once.content, behind: 20, then) == (once.content, nil))
            }
            // A later checkpoint, and nothing behind it.
            #expect(try recall(once.content, behind: 40, []).content == once.content)
        }
    }

    /// A hole that reaches over the checkpoint, as of a disk that hung, is filled behind it; so is a file that was cut at its front.
    @Test func aHoleOverTheCheckpointIsNoReasonToWriteALineTwice() throws {
        let lines = (10..<50).map {
            Array(#"{"type":"event","now":"2026-06-13T14:00:\#($0).000Z","kind":"\#($0)"}"#.utf8) + [10]
        }
        let then = Array(lines[20...])
        for (content, kept) in [(lines[..<10] + lines[25...], 10), (lines[30...], 0)] {
            let result = try recall(Data(content.joined()), behind: 20, then)
            #expect(result.content == Data(lines[..<kept].joined()) + Data(then.joined()))
            #expect(result.notice?.contains("\(20 - kept) of the 20 decisions") == true)
        }
    }
}
