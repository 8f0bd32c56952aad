import FanfareModel
import Testing

@testable import FanfareLog

@Suite struct LogEntryTests {
    @Test func eachEntryComesBackAsItWas() throws {
        for entry in EntrySamples.all + EntrySamples.keyed { #expect(try LogEntry(entry.bytes(at: 5), at: 5) == entry) }
    }

    /// `==` of numbers does not see the sign of zero, nor `3` beside `3.0` where a patch does.
    @Test func numbersKeepTheirBits() throws {
        var writer = SerialWriter()
        writer.write(JSONValue.array([.double(-0.0), .double(3), .int(3), .double(.nan)]))
        var reader = SerialReader(writer.bytes[...])
        let values = try #require(try reader.value().arrayValue)
        #expect(values[0].doubleValue?.sign == .minus)
        #expect(values[1] == .double(3) && values[2] == .int(3))
        #expect(values[3].doubleValue?.isNaN == true)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func randomEntriesComeBack(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for position in UInt64(1)...2000 {
            let entry = EntrySamples.random(using: &random)
            #expect(
                try LogEntry(entry.bytes(at: position), at: position) == entry, "seed \(seed), position \(position)")
        }
    }

    /// An entry is read as it was or not at all, whatever a disk makes of it.
    @Test(arguments: [UInt64(1), 2, 3]) func damageOfAnEntryIsSeen(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let entry = EntrySamples.random(using: &random)
            var bytes = entry.bytes(at: 1)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            default: bytes.append(UInt8.random(in: 0...255, using: &random))
            }
            #expect(throws: SerialError.self, "seed \(seed)") { try LogEntry(bytes, at: 1) }
        }
    }

    @Test func anEntryInAnotherPlaceIsSeen() {
        #expect(throws: SerialError.checksum) { try LogEntry(EntrySamples.all[1].bytes(at: 1), at: 2) }
    }

    /// The checksum is right here, as a hostile writer would make it: nothing may trap or take more memory than the bytes.
    @Test(arguments: [UInt64(1), 2, 3]) func strangeContentOfAnEntryIsRefused(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<20_000 {
            var bytes = EntrySamples.random(using: &random).bytes(at: 1)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count - 4, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let entry = try? LogEntry(LogEntry.sealed(bytes.dropLast(4), at: 1), at: 1) else { continue }
            // A readable entry can be written, and means the same. NaN equals nothing, so bytes are compared.
            #expect((try? LogEntry(entry.bytes(at: 1), at: 1))?.bytes(at: 1) == entry.bytes(at: 1), "seed \(seed)")
        }
    }

    @Test func deepNestingIsRefused() {
        let deep: [UInt8] = (0..<100_000).flatMap { _ -> [UInt8] in [6, 1] } + [0]
        var reader = SerialReader(deep[...])
        #expect(throws: SerialError.self) { try reader.value() }
    }

    @Test func aFormOfANewerReleaseIsNamed() {
        var bytes = Array(EntrySamples.all[1].bytes(at: 1).dropLast(4))
        bytes[0] = LogEntry.form + 1
        #expect(throws: SerialError.newerForm(LogEntry.form + 1, known: LogEntry.form)) {
            try LogEntry(LogEntry.sealed(bytes[...], at: 1), at: 1)
        }
    }

    /// Logs of this release must stay readable: these bytes never change. A new form gets a golden list of its own beside them.
    @Test func theFirstFormOfEntriesIsAsItWas() throws {
        #expect(Self.hex(EntrySamples.all) == Golden.form1)
        #expect(Golden.form1.count == EntrySamples.all.count)
    }

    /// Calls with keys make entries of the second form, and only they: a release from before keys reads a folder without keys.
    @Test func theSecondFormOfEntriesIsAsItWas() throws {
        #expect(Self.hex(EntrySamples.keyed) == Golden.form2)
        #expect(EntrySamples.keyed.allSatisfy { $0.bytes(at: 1)[0] == 2 })
        #expect(EntrySamples.all.allSatisfy { $0.bytes(at: 1)[0] == 1 })
    }

    /// The replacement of an entry that was set aside has its key: the call that is repeated stays one that was taken. An order for
    /// all topics is lost, and may be given again.
    @Test func anEntryThatIsSetAsideKeepsItsKey() {
        for entry in EntrySamples.keyed {
            var isOfAll = false
            if case .event(let event, _) = entry.body { isOfAll = event.topic == .every }
            #expect(entry.skipped(at: 1).key == (isOfAll ? nil : entry.key))
        }
        let all = FeedEvent(
            topic: .every, at: FeedTime(seconds: 1_790_000_000), kind: "mute", change: .operation(.mute))
        let key = EntrySamples.keyed.lazy.compactMap(\.key).first
        #expect(key != nil)
        #expect(LogEntry(now: all.at, key: key, .event(all, wall: nil)).skipped(at: 1).key == nil)
    }

    private static func hex(_ entries: [LogEntry]) -> [String] {
        entries.enumerated().map { index, entry in
            entry.bytes(at: UInt64(index + 1)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }
}
