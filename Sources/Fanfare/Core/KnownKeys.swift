import FanfareLog
import FanfareModel

/// Calls of the last 24 hours that had an idempotency key, by log time, oldest first.
///
/// Calls are kept in chunks: a checkpoint takes the chunks of a moment without copying the calls, and writes one after the other.
package struct KnownKeys {
    /// Call that was taken.
    package struct Call: Sendable, Equatable {
        let key: CallKey
        /// Log time at which the call was taken.
        let at: FeedTime
        /// Place of the call's receipt; `nil` if an earlier process has taken the call.
        let position: UInt64?
        /// Position of the call's entry; `nil` without a store, and until the entry has been decided.
        fileprivate(set) var entry: LogPosition?
        /// Is `false` while the call's entry is on its way through the store.
        fileprivate(set) var isDecided: Bool
        /// Number of repeated calls that wait for the entry.
        fileprivate var waiting = 0
        /// Is `true` of a first call that was dropped before the turn of a repeated call, which waits for its entry once more.
        fileprivate var wasDropped = false

        fileprivate init(_ key: CallKey, at now: FeedTime, position: UInt64?, entry: LogPosition?, isDecided: Bool) {
            (self.key, at, self.position, self.entry, self.isDecided) = (key, now, position, entry, isDecided)
        }
    }

    /// Result of the search for a key.
    enum Finding: Equatable {
        /// No call has had the key, and now one has.
        case new
        /// The first call; `endWait(for:)` returns it with its entry when the turn of the repeated call comes.
        case repeated(Call)
        /// The first call with the key had another content.
        case differs(Call)
    }

    /// Time for which a key is known.
    static let lifetime = Duration.seconds(24 * 3600)
    /// Greatest number of calls: three a second.
    static let callsMax = 1 << 18
    /// Calls in a row of a checkpoint, some 30 KB.
    static let callsPerChunk = 512
    /// First byte of a checkpoint's row of calls; no other row begins with it.
    static let row: UInt8 = 66

    private let callsMax: Int
    private var chunks: [[Call]] = []
    /// Numbers of the calls, which count up.
    private var numbers: [IdempotencyKey: UInt64] = [:]
    /// Number of the oldest call.
    private var first: UInt64 = 0
    /// Number of calls that were forgotten before their time, because too many came after them.
    private(set) var dropped: UInt64 = 0
    /// Chunks that the checkpoint which is being written still lacks, and its log time.
    private var unwritten: (chunks: ArraySlice<[Call]>, now: FeedTime)?

    init(callsMax: Int = KnownKeys.callsMax) { self.callsMax = max(1, callsMax) }

    var count: Int { numbers.count }

    /// Returns the call with the key; `nil` if none is known.
    subscript(key: IdempotencyKey) -> Call? { numbers[key].map { self[$0] } }

    /// Finds the key of a call that has come, and keeps it if no call has had it.
    ///
    /// - Parameters:
    ///   - now: log time.
    ///   - position: place of the call's receipt.
    ///   - isDecided: `false` if the call gets an entry, which `noteDecided` names.
    mutating func take(_ key: CallKey, at now: FeedTime, position: UInt64, isDecided: Bool) -> Finding {
        forget(at: now)
        guard let number = numbers[key.key] else {
            append(Call(key, at: now, position: position, entry: nil, isDecided: isDecided))
            return .new
        }
        guard self[number].key == key else { return .differs(self[number]) }
        if !self[number].isDecided { self[number].waiting += 1 }
        return .repeated(self[number])
    }

    /// Returns the first call for whose entry a repeated call waits once more when its turn has come; `nil` if it does not wait any longer.
    ///
    /// The entry of a dropped call may still be on its way, and makes the key known again when it is decided. A repeated call waits for it once: by
    /// then the key may have been dropped again.
    ///
    /// - Parameter call: first call, as `take` or this function has returned it.
    func awaited(_ call: Call) -> Call? {
        guard !call.isDecided else { return nil }
        if let number = numbers[call.key.key] {
            if self[number].isDecided { return nil }
            if self[number].position == call.position { return call }
        }
        guard !call.wasDropped else { return nil }
        var dropped = call
        dropped.wasDropped = true
        return dropped
    }

    /// Ends the wait of a repeated call.
    ///
    /// - Parameter call: first call, as `take` has found it.
    /// - Returns: the first call as it is now; the newest call with its key if the first one was dropped.
    mutating func endWait(for call: Call) -> Call {
        guard !call.isDecided, let number = numbers[call.key.key] else { return call }
        // After too many calls the first call is dropped, and its key may be that of a newer call, for which this repeated call does not wait.
        // Calls that were taken have different positions.
        if self[number].position == call.position { self[number].waiting -= 1 }
        return self[number]
    }

    /// Notes that the entry of a call was decided, by this process or an earlier one.
    mutating func noteDecided(_ key: CallKey, at now: FeedTime, entry: LogPosition) {
        forget(at: now)
        guard let number = numbers[key.key] else {
            return append(Call(key, at: now, position: nil, entry: entry, isDecided: true))
        }
        self[number].entry = entry
        self[number].isDecided = true
    }

    private subscript(number: UInt64) -> Call {
        get { chunks[chunk(of: number)][place(of: number)] }
        set { chunks[chunk(of: number)][place(of: number)] = newValue }
    }

    private func chunk(of number: UInt64) -> Int {
        Int(number / UInt64(KnownKeys.callsPerChunk) - first / UInt64(KnownKeys.callsPerChunk))
    }

    private func place(of number: UInt64) -> Int { Int(number % UInt64(KnownKeys.callsPerChunk)) }

    private mutating func append(_ call: Call) {
        if count == callsMax {
            removeFirst()
            dropped += 1
        }
        if chunks.last.map({ $0.count == KnownKeys.callsPerChunk }) ?? true {
            chunks.append([])
            // Without this reservation a chunk would grow to one and a half times its size.
            chunks[chunks.count - 1].reserveCapacity(KnownKeys.callsPerChunk)
        }
        chunks[chunks.count - 1].append(call)
        numbers[call.key.key] = first + UInt64(count)
    }

    private mutating func removeFirst() {
        numbers[self[first].key.key] = nil
        first += 1
        // The last chunk may be full and have no successor yet.
        if first.isMultiple(of: UInt64(KnownKeys.callsPerChunk)) { chunks.removeFirst() }
    }

    /// Forgets expired calls. A call whose entry is on its way, or awaited by repeated calls, stays until they are answered.
    private mutating func forget(at now: FeedTime) {
        while count > 0, self[first].isDecided, self[first].waiting == 0, KnownKeys.isOver(self[first], at: now) {
            removeFirst()
        }
    }

    private static func isOver(_ call: Call, at now: FeedTime) -> Bool { now - call.at >= lifetime }

    /// Describes a wrong number of calls, a key that finds another one's call, or a negative number of repeated calls; `nil` if there is none.
    /// For tests.
    func violation() -> String? {
        let places = chunks.reduce(0) { $0 + $1.count }
        guard count <= callsMax, places == place(of: first) + count,
            chunks.dropLast().allSatisfy({ $0.count == KnownKeys.callsPerChunk })
        else { return "\(count) keys from number \(first) on have \(places) places" }
        for (key, number) in numbers {
            guard number >= first, number - first < UInt64(count), self[number].key.key == key else {
                return "the key with number \(number) is another call's"
            }
            guard self[number].waiting >= 0 else {
                return "\(self[number].waiting) repeated calls wait for number \(number)"
            }
        }
        return nil
    }
}

// MARK: - Checkpoints

extension KnownKeys {
    /// Begins to write the calls of this moment.
    mutating func beginRows(at now: FeedTime) { unwritten = (chunks[...], now) }

    /// Number of rows that are left to write; some may turn out to be empty.
    var rowsLeft: Int { unwritten?.chunks.count ?? 0 }

    /// Returns the next row; `nil` if there is none, or it would be empty.
    mutating func takeRow() -> [UInt8]? {
        guard let now = unwritten?.now, let chunk = unwritten?.chunks.popFirst() else { return nil }
        // The entry of a call that was not decided yet follows the checkpoint, or is lost with the process.
        let calls = chunk.compactMap { call in
            call.entry.flatMap { KnownKeys.isOver(call, at: now) ? nil : (call: call, entry: $0) }
        }
        guard !calls.isEmpty else { return nil }
        var writer = SerialWriter()
        writer.write(byte: KnownKeys.row)
        writer.write(all: calls) { writer, known in
            writer.write(known.call.key)
            writer.write(known.call.at)
            writer.write(known.entry)
        }
        return writer.bytes
    }

    mutating func endRows() { unwritten = nil }

    /// Takes back the calls of a row, after its first byte. Rows come in the order in which they were written.
    mutating func restore(_ reader: inout SerialReader) throws(SerialError) {
        for _ in 0..<(try reader.count()) {
            let (key, at) = (try reader.callKey(), try reader.time())
            noteDecided(key, at: at, entry: try reader.unsigned())
        }
    }
}
