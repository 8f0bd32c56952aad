/// Position of a token among the accepted pushes.
struct TokenIndex: Hashable { let rawValue: UInt32 }
/// Position of a distinct content state among the accepted pushes.
struct StateIndex: Hashable { let rawValue: UInt32 }
/// Position of a distinct alert (title and body) among the accepted pushes.
struct AlertIndex: Hashable { let rawValue: UInt32 }
/// Position of a push among the accepted pushes.
struct EntryIndex: Hashable { let rawValue: UInt32 }

/// All pushes that the simulator accepted, per token and in order, for a judge to read.
///
/// One million tokens with 15 pushes each take 1 M × (32 + 8 in the table) + 15 M × 20 bytes = 340 MB. Only hashes of tokens are kept.
/// Everything has a limit; pushes beyond it are counted as `unrecorded`, and the judge refuses such a dump.
final class AcceptedPushes {
    /// A token's record, 32 bytes.
    struct Token {
        /// First half of the fingerprint of the token's bytes: the table's key.
        let key: UInt64
        /// First 64 bits of SHA-256 of the token's bytes: its name in the dump.
        let id: UInt64
        /// Newest entry plus 1; 0 without an entry.
        fileprivate(set) var newest: UInt32 = 0
        /// Number of requests, whatever their answers.
        fileprivate(set) var requests: UInt32 = 0
        let isDead: Bool
        let isThrottled: Bool
    }

    /// One accepted push: 20 bytes.
    struct Entry {
        struct Flags: OptionSet {
            let rawValue: UInt32
            static let immediate = Flags(rawValue: 1)
            /// The connection was lost before the answer left, so the sender does not know the outcome.
            static let unanswered = Flags(rawValue: 2)
            static let hasState = Flags(rawValue: 4)
            static let hasAlert = Flags(rawValue: 8)
        }

        /// The token's previous entry plus 1; 0 for the first entry.
        let previous: UInt32
        /// Milliseconds since the simulator's start; enough for 49 days.
        let arrival: UInt32
        let state: UInt32
        /// Stamp in Unix seconds; enough until 2106.
        let stamp: UInt32
        /// Alert index in the upper 24 bits (`alertsMax` fits), then 2 bits of event, then flags.
        fileprivate var packed: UInt32

        var alert: AlertIndex? { flags.contains(.hasAlert) ? AlertIndex(rawValue: packed >> 8) : nil }
        var stateIndex: StateIndex? { flags.contains(.hasState) ? StateIndex(rawValue: state) : nil }
        var event: PayloadFacts.Event { PayloadFacts.Event(rawValue: UInt8(packed >> 4 & 3)) ?? .update }
        var flags: Flags { Flags(rawValue: packed & 15) }
    }

    private static let chunkEntries = 1 << 16

    let limits: AcceptedPushLimits
    private let behaviour: Behaviour
    let digest: ([UInt8]) -> UInt64
    private(set) var tokens: [Token] = []
    /// Hash table of token indexes plus 1, or 0 for a free slot: open addressing with linear probing, at most half full. Half a megabyte at
    /// first, so that growth does not slow down a run of ordinary size.
    private var table = [UInt32](repeating: 0, count: 1 << 17)
    private var chunks: [[Entry]] = []
    private(set) var entryCount = 0
    private(set) var states: [[UInt8]] = []
    private var stateIndexes: [[UInt8]: UInt32] = [:]
    private var stateBytes = 0
    private(set) var alerts: [[UInt8]] = []
    private var alertIndexes: [[UInt8]: UInt32] = [:]
    /// Accepted pushes that did not fit.
    private(set) var unrecorded = 0

    /// - Parameter digest: returns the first 64 bits of SHA-256.
    init(behaviour: Behaviour, limits: AcceptedPushLimits = AcceptedPushLimits(), digest: @escaping ([UInt8]) -> UInt64)
    {
        precondition(limits.alertsMax <= 1 << 24, "an entry has 24 bits for its alert")
        precondition(limits.entriesMax < 1 << 32 && limits.tokensMax < 1 << 32, "indexes have 32 bits")
        self.behaviour = behaviour
        self.limits = limits
        self.digest = digest
        tokens.reserveCapacity(min(table.count / 2, limits.tokensMax))
    }

    /// Returns the index of the token with these bytes and adds a new token; `nil` if the token is new and there is no room.
    func token(_ bytes: ArraySlice<UInt8>) -> TokenIndex? {
        let key = bytes.withUnsafeBytes { Fingerprint($0).low }
        var slot = Int(truncatingIfNeeded: key) & (table.count - 1)
        while table[slot] != 0 {
            let index = Int(table[slot] - 1)
            if tokens[index].key == key {
                tokens[index].requests &+= 1
                return TokenIndex(rawValue: UInt32(index))
            }
            slot = (slot + 1) & (table.count - 1)
        }
        guard tokens.count < limits.tokensMax else { return nil }
        let id = digest(Array(bytes))
        tokens.append(
            Token(
                key: key, id: id, requests: 1, isDead: behaviour.isDead(id, bytes),
                isThrottled: behaviour.isThrottled(id)))
        table[slot] = UInt32(tokens.count)
        if tokens.count * 2 > table.count { growTable() }
        return TokenIndex(rawValue: UInt32(tokens.count - 1))
    }

    subscript(token: TokenIndex) -> Token { tokens[Int(token.rawValue)] }
    subscript(entry: EntryIndex) -> Entry {
        chunks[Int(entry.rawValue) / AcceptedPushes.chunkEntries][Int(entry.rawValue) % AcceptedPushes.chunkEntries]
    }

    /// Returns the index of a content state; `nil` if it is new and there is no room.
    func intern(state: [UInt8]) -> StateIndex? {
        if let known = stateIndexes[state] { return StateIndex(rawValue: known) }
        guard stateBytes + state.count <= limits.stateBytesMax else { return nil }
        stateBytes += state.count
        states.append(state)
        stateIndexes[state] = UInt32(states.count - 1)
        return StateIndex(rawValue: UInt32(states.count - 1))
    }

    func intern(alert: [UInt8]) -> AlertIndex? {
        if let known = alertIndexes[alert] { return AlertIndex(rawValue: known) }
        guard alerts.count < limits.alertsMax else { return nil }
        alerts.append(alert)
        alertIndexes[alert] = UInt32(alerts.count - 1)
        return AlertIndex(rawValue: UInt32(alerts.count - 1))
    }

    /// Records an accepted push; `nil` if there is no room, which is counted.
    func accept(
        _ token: TokenIndex, payload: RecordedPayload, isImmediate: Bool, arrival: UInt32
    ) -> EntryIndex? {
        guard entryCount < limits.entriesMax else {
            unrecorded += 1
            return nil
        }
        var flags: Entry.Flags = isImmediate ? .immediate : []
        if payload.state != nil { flags.insert(.hasState) }
        if payload.alert != nil { flags.insert(.hasAlert) }
        let entry = Entry(
            previous: tokens[Int(token.rawValue)].newest, arrival: arrival, state: payload.state?.rawValue ?? 0,
            stamp: UInt32(payload.stamp),
            packed: (payload.alert?.rawValue ?? 0) << 8 | UInt32(payload.event.rawValue) << 4 | flags.rawValue)
        if entryCount % AcceptedPushes.chunkEntries == 0 {
            chunks.append([])
            chunks[chunks.count - 1].reserveCapacity(AcceptedPushes.chunkEntries)
        }
        chunks[chunks.count - 1].append(entry)
        entryCount += 1
        tokens[Int(token.rawValue)].newest = UInt32(entryCount)
        return EntryIndex(rawValue: UInt32(entryCount - 1))
    }

    func countUnrecorded() { unrecorded += 1 }

    func markUnanswered(_ entry: EntryIndex) {
        chunks[Int(entry.rawValue) / AcceptedPushes.chunkEntries][Int(entry.rawValue) % AcceptedPushes.chunkEntries]
            .packed |=
            Entry.Flags.unanswered.rawValue
    }

    /// Returns a token's entries, oldest first.
    func entries(of token: Token, into entries: inout [Entry]) {
        entries.removeAll(keepingCapacity: true)
        var next = token.newest
        while next != 0 {
            let entry = self[EntryIndex(rawValue: next - 1)]
            entries.append(entry)
            next = entry.previous
        }
        entries.reverse()
    }

    /// Returns the time of the token's last accepted push, in milliseconds since the start.
    func lastArrival(_ token: TokenIndex) -> UInt32? {
        let newest = tokens[Int(token.rawValue)].newest
        return newest == 0 ? nil : self[EntryIndex(rawValue: newest - 1)].arrival
    }

    private func growTable() {
        var grown = [UInt32](repeating: 0, count: table.count * 2)
        for (index, token) in tokens.enumerated() {
            var slot = Int(truncatingIfNeeded: token.key) & (grown.count - 1)
            while grown[slot] != 0 { slot = (slot + 1) & (grown.count - 1) }
            grown[slot] = UInt32(index + 1)
        }
        table = grown
    }
}

/// A good body with its indexes among the accepted pushes.
struct RecordedPayload {
    let event: PayloadFacts.Event
    let stamp: Int64
    let state: StateIndex?
    let alert: AlertIndex?
}
