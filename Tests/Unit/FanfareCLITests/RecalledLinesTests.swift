import Foundation
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

    @Test func aFileThatHasThemStaysAsItIs() throws {
        let result = try recall(Self.whole, Self.lines)
        #expect(result.content == Self.whole && result.fault == nil)
    }

    @Test func anEmptyFileGetsThemAll() throws {
        #expect(try recall(Data(), Self.lines).content == Self.whole)
    }

    @Test func whatFollowsThemIsCutOff() throws {
        for rest in ["x", "another line\n", String(repeating: "\0", count: 100_000)] {
            #expect(try recall(Self.whole + Data(rest.utf8), Self.lines).content == Self.whole)
        }
    }

    @Test func aFileThatEndsAnywhereIsCompleted() throws {
        for length in stride(from: 0, to: Self.whole.count, by: 4999) {
            #expect(try recall(Self.whole.prefix(length), Self.lines).content == Self.whole, "\(length) bytes")
        }
    }

    @Test func fromADifferenceOnTheLinesAreWrittenAnew() throws {
        for place in stride(from: 0, to: Self.whole.count, by: 4999) {
            var content = Self.whole
            content[place] ^= 1
            #expect(try recall(content, Self.lines).content == Self.whole, "byte \(place)")
        }
    }

    @Test func nothingRecalledEmptiesTheFile() throws {
        #expect(try recall(Self.whole, []).content == Data())
    }

    @Test func aFileThatCannotBeOpenedIsNamed() {
        let error = #expect(throws: UsageError.self) { try RecalledLines("/no/such/file") }
        #expect(error?.description.contains("/no/such/file") == true)
    }
}
