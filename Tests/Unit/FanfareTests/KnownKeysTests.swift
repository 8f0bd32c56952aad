import FanfareModel
import Testing

@testable import Fanfare

@Suite struct KnownKeysTests {
    private static let start = FeedTime(seconds: 1_790_000_000)
    private static let day = Duration.seconds(24 * 3600)

    private static func key(_ number: Int, content: UInt64 = 0) throws -> CallKey {
        CallKey(try IdempotencyKey("k\(number)"), content: content)
    }

    @Test func aKeyIsKnownFor24Hours() throws {
        var keys = KnownKeys()
        let (key, other) = (try Self.key(1), try Self.key(1, content: 1))
        #expect(keys.take(key, at: Self.start, position: 7, isDecided: true) == .new)
        let last = Self.start + (Self.day - .milliseconds(1))
        guard case .repeated(let call) = keys.take(key, at: last, position: 8, isDecided: true),
            case .differs(let same) = keys.take(other, at: last, position: 9, isDecided: true)
        else { return #expect(Bool(false), "the key is not known") }
        #expect(call == same && call.position == 7 && call.at == Self.start && call.entry == nil)
        #expect(keys.take(other, at: Self.start + Self.day, position: 10, isDecided: true) == .new)
        #expect(keys.count == 1)
    }

    /// A caller that repeats a call whose entry the disk has not taken yet waits for that entry.
    @Test func aCallWhoseEntryIsOnItsWayIsNotForgotten() throws {
        var keys = KnownKeys()
        let key = try Self.key(1)
        _ = keys.take(key, at: Self.start, position: 1, isDecided: false)
        let late = Self.start + Self.day + Self.day
        guard case .repeated(let call) = keys.take(key, at: late, position: 2, isDecided: false) else {
            return #expect(Bool(false), "the key is not known")
        }
        #expect(!call.isDecided)
        keys.noteDecided(key, at: Self.start, entry: 5)
        // Other calls come before the repeated one is answered.
        _ = keys.take(try Self.key(2), at: late, position: 3, isDecided: true)
        let first = keys.endWait(for: call)
        #expect(first.entry == 5 && first.isDecided && keys.violation() == nil)
        var other = keys
        _ = other.endWait(for: call)
        #expect(other.violation() != nil, "one call waits, and two waits end")
        #expect(keys.take(key, at: late, position: 3, isDecided: false) == .new)
    }

    @Test func tooManyKeysForgetTheOldestAndCountIt() throws {
        var keys = KnownKeys(callsMax: 1000)
        for number in 0..<2500 {
            _ = keys.take(try Self.key(number), at: Self.start, position: UInt64(number), isDecided: true)
            #expect(keys.count == min(number + 1, 1000))
        }
        #expect(keys.dropped == 1500 && keys.violation() == nil)
        let (gone, oldest) = (try Self.key(1499).key, try Self.key(1500).key)
        #expect(keys[gone] == nil && keys[oldest]?.position == 1500)
    }

    private static func firstCall(_ finding: KnownKeys.Finding) throws -> KnownKeys.Call {
        let first: KnownKeys.Call? = if case .repeated(let call) = finding { call } else { nil }
        return try #require(first)
    }

    /// Returns keys of which there is room for one, and the call that they have dropped while a repeated call waits for it.
    private static func keysThatDropped(_ key: CallKey) throws -> (keys: KnownKeys, dropped: KnownKeys.Call) {
        var keys = KnownKeys(callsMax: 1)
        _ = keys.take(key, at: start, position: 1, isDecided: false)
        let dropped = try firstCall(keys.take(key, at: start, position: 2, isDecided: false))
        _ = keys.take(try Self.key(2), at: start, position: 3, isDecided: true)
        #expect(keys.dropped == 1 && keys[key.key] == nil)
        return (keys, dropped)
    }

    @Test func aCallWhoseKeyADroppedCallHadExpires() throws {
        let key = try Self.key(1)
        let before = try Self.keysThatDropped(key)
        var keys = before.keys
        let anew = keys.take(key, at: Self.start, position: 4, isDecided: false)
        let answered = keys.endWait(for: before.dropped)
        #expect(anew == .new && answered.position == 4 && keys.violation() == nil)
        keys.noteDecided(key, at: Self.start, entry: 9)
        let nextDay = keys.take(key, at: Self.start + Self.day, position: 5, isDecided: true)
        #expect(nextDay == .new)
    }

    @Test func aCallWhoseKeyADroppedCallHadIsKnownWhileItIsAwaited() throws {
        let key = try Self.key(1)
        let before = try Self.keysThatDropped(key)
        var keys = before.keys
        _ = keys.take(key, at: Self.start, position: 4, isDecided: false)
        let newer = try Self.firstCall(keys.take(key, at: Self.start, position: 5, isDecided: false))
        _ = keys.endWait(for: before.dropped)
        keys.noteDecided(key, at: Self.start, entry: 9)
        let late = try Self.firstCall(keys.take(key, at: Self.start + Self.day, position: 6, isDecided: true))
        #expect(late.position == 4)
        let answered = keys.endWait(for: newer)
        #expect(answered.position == 4 && answered.entry == 9 && keys.violation() == nil)
        let nextDay = keys.take(key, at: Self.start + Self.day, position: 7, isDecided: true)
        #expect(nextDay == .new)
    }

    /// A repeated call waits once more for a call that was dropped, whatever has become of its key.
    @Test func aDroppedCallIsAwaitedOnceMore() throws {
        let key = try Self.key(1)
        let before = try Self.keysThatDropped(key)
        var keys = before.keys
        let dropped = try #require(keys.awaited(before.dropped))
        #expect(keys.awaited(dropped) == nil)
        _ = keys.take(key, at: Self.start, position: 4, isDecided: false)
        #expect(keys.awaited(before.dropped) == dropped && keys.awaited(dropped) == nil)
        let newer = try Self.firstCall(keys.take(key, at: Self.start, position: 5, isDecided: false))
        #expect(keys.awaited(newer) == newer)
        keys.noteDecided(key, at: Self.start, entry: 9)
        #expect(keys.awaited(newer) == nil && keys.awaited(before.dropped) == nil)
    }

    /// The entry of a dropped call makes its key known again.
    @Test func aDroppedCallThatIsDecidedExpires() throws {
        let key = try Self.key(1)
        let before = try Self.keysThatDropped(key)
        var keys = before.keys
        keys.noteDecided(key, at: Self.start, entry: 9)
        let answered = keys.endWait(for: before.dropped)
        #expect(answered.isDecided && answered.entry == 9 && keys.violation() == nil)
        let nextDay = keys.take(key, at: Self.start + Self.day, position: 4, isDecided: true)
        #expect(nextDay == .new)
    }

    /// Few places for calls, whose entries are decided and whose repeated calls are answered in the order in which they came.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5]) func howeverManyCallsAreDroppedNoCallIsAwaitedForEver(seed: UInt64) throws
    {
        enum Turn { case decide(CallKey), answer(KnownKeys.Call) }
        var random = SplitMix64(seed: seed)
        var keys = KnownKeys(callsMax: 3)
        var turns: [Turn] = []
        var position: UInt64 = 0
        func takeTurn() {
            switch turns.removeFirst() {
            case .decide(let key): keys.noteDecided(key, at: Self.start, entry: position)
            case .answer(let call): _ = keys.endWait(for: call)
            }
        }
        for _ in 0..<2000 {
            position += 1
            let key = try Self.key(Int.random(in: 0..<6, using: &random))
            switch keys.take(key, at: Self.start, position: position, isDecided: false) {
            case .new: turns.append(.decide(key))
            case .repeated(let call): turns.append(.answer(call))
            case .differs: Issue.record("seed \(seed): the same content differs")
            }
            while !turns.isEmpty, random.chance(0.6) { takeTurn() }
            #expect(keys.violation() == nil, "seed \(seed), call \(position)")
        }
        while !turns.isEmpty { takeTurn() }
        let nextDay = keys.take(try Self.key(7), at: Self.start + Self.day, position: position + 1, isDecided: true)
        #expect(nextDay == .new && keys.count == 1 && keys.violation() == nil, "seed \(seed)")
        #expect(keys.dropped > 100)
    }

    /// Beside an array, at random, across the chunks' borders.
    @Test(arguments: [UInt64(1), 2, 3]) func theKeysAreThoseOfTheLast24Hours(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var keys = KnownKeys(callsMax: 1500)
        var model: [(key: CallKey, at: FeedTime, position: UInt64)] = []
        var now = Self.start
        for position in 0..<UInt64(20_000) {
            now = now + .seconds(random.chance(0.001) ? 80_000 : Int.random(in: 0...100, using: &random))
            model.removeAll { now - $0.at >= Self.day }
            let key = try Self.key(Int.random(in: 0..<3000, using: &random), content: random.chance(0.1) ? 1 : 0)
            let found = keys.take(key, at: now, position: position, isDecided: true)
            switch model.first(where: { $0.key.key == key.key }) {
            case nil:
                #expect(found == .new)
                if model.count == 1500 { model.removeFirst() }
                model.append((key, now, position))
            case let first?:
                let call = keys[key.key]
                #expect(call?.position == first.position && call?.at == first.at)
                #expect(found == call.map { first.key == key ? .repeated($0) : .differs($0) })
            }
            #expect(keys.count == model.count)
            if position.isMultiple(of: 100) { #expect(keys.violation() == nil, "seed \(seed), call \(position)") }
        }
    }

    /// A checkpoint has the calls of its moment whose entries are decided, whatever comes while it is written.
    @Test func aCheckpointHasTheCallsOfItsMoment() throws {
        var keys = KnownKeys()
        let total = 3 * KnownKeys.callsPerChunk + 10
        for number in 0..<total {
            let key = try Self.key(number)
            let at = Self.start + .seconds(number)
            _ = keys.take(key, at: at, position: UInt64(number), isDecided: false)
            if number != total - 1 { keys.noteDecided(key, at: at, entry: UInt64(number + 100)) }
        }
        let now = Self.start + .seconds(total)
        keys.beginRows(at: now)
        keys.noteDecided(try Self.key(total - 1), at: now, entry: 9000)
        for number in total..<(total + 600) {
            _ = keys.take(try Self.key(number), at: now, position: 1, isDecided: false)
            keys.noteDecided(try Self.key(number), at: now, entry: UInt64(9001 + number))
        }
        var restored = KnownKeys()
        var rows = 0
        while keys.rowsLeft > 0 {
            guard let row = keys.takeRow() else { continue }
            rows += 1
            #expect(row.first == KnownKeys.row)
            var reader = SerialReader(row.dropFirst())
            try restored.restore(&reader)
            #expect(reader.isAtEnd)
        }
        #expect(rows == 4)
        #expect(restored.count == total - 1)
        for number in 0..<(total - 1) {
            let call = restored[try Self.key(number).key]
            #expect(call?.entry == UInt64(number + 100) && call?.position == nil && call?.isDecided == true)
            #expect(call?.at == Self.start + .seconds(number))
        }
        // Those whose time is over when it is written are in none.
        keys.beginRows(at: now + Self.day)
        while keys.rowsLeft > 0 { #expect(keys.takeRow() == nil) }
    }

    /// A checkpoint's row of calls as this release writes it. The bytes never change.
    @Test func theFormOfCallsStaysReadable() throws {
        var keys = KnownKeys()
        keys.noteDecided(try Self.key(1, content: 0x0102_0304_0506_0708), at: Self.start, entry: 300)
        keys.beginRows(at: Self.start)
        let row = keys.takeRow()
        // The number of calls, the key and the content's hash; time and entry.
        let golden: [UInt8] = [
            66, 1, 2, 0x6b, 0x31, 8, 7, 6, 5, 4, 3, 2, 1, 0x80, 0xb0, 0x83, 0xc5, 0x98, 0x68, 0xac, 0x02,
        ]
        #expect(row == golden)
    }

    /// A row is another process's: whatever its bytes are, reading it ends.
    @Test(arguments: [UInt64(1), 2, 3]) func aStrangeRowIsRefusedOrTaken(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var keys = KnownKeys()
        for number in 0..<5 { keys.noteDecided(try Self.key(number), at: Self.start, entry: UInt64(number + 1)) }
        keys.beginRows(at: Self.start)
        let written = keys.takeRow()
        let row = try #require(written)
        for _ in 0..<5000 {
            var bytes = row
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            var restored = KnownKeys()
            var reader = SerialReader(bytes.dropFirst())
            do throws(SerialError) { try restored.restore(&reader) } catch { continue }
            #expect(restored.count <= 5 && restored.violation() == nil)
        }
    }
}
