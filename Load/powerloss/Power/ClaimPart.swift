internal import FanfareLog
internal import FanfareModel

/// Claims, completions and the stamp ceiling; claims expire after some steps.
final class ClaimPart: Part {
    static let name = "claims"

    private struct State: Equatable {
        var start: FeedTime?
        /// Number of the last claims, and the stamp ceiling; 0 without any.
        var last: UInt64 = 0
        /// Number of the first claims that have not expired.
        var fresh: UInt64 = 1
        var completions: [CompletionKey: UInt64] = [:]
        var head: CompletionHead?
    }

    private let store: String
    private var claims: ClaimFolder?
    private var states = [State()]
    private static let mapSize = ByteCount.kibibytes(64)
    /// Steps that claims stay fresh.
    private static let freshSteps: UInt64 = 20

    init(store: String) throws { self.store = store }

    func close() {
        claims?.close()
        claims = nil
    }

    func step() throws {
        let number = UInt64(states.count)
        var state = states[states.count - 1]
        if number.isMultiple(of: 59) { close() }
        let claims = try opened()
        if number == 1 {
            state.start = ClaimPart.time(1)
            try claims.begin(at: ClaimPart.time(1))
        } else {
            var changes = CompletionChanges()
            if number.isMultiple(of: 97) {
                changes.void()
                (state.completions, state.head) = ([:], nil)
            }
            for offset in 0..<(number % 6) {
                let key = CompletionKey(birth: (number &+ offset).mixed % 60, app: Int(offset % 2))
                if offset == 4 {
                    changes.forget(key)
                    state.completions[key] = nil
                } else {
                    let head = CompletionHead(position: number, now: ClaimPart.time(number))
                    changes.note(ClaimPart.completion(key, number), at: key, head)
                    state.completions[key] = number
                    state.head = head
                }
            }
            try claims.append([ClaimPart.stored(number)], changes, stampCeiling: Int64(number))
            state.last = number
            state.fresh = max(2, number - min(number, ClaimPart.freshSteps))
        }
        states.append(state)
    }

    private func opened() throws -> ClaimFolder {
        if let claims { return claims }
        let opened = try ClaimFolder(store: store, mapSize: ClaimPart.mapSize)
        // Claims that are not read are never removed.
        try opened.read { _ in }
        claims = opened
        return opened
    }

    private static func time(_ number: UInt64) -> FeedTime { FeedTime(milliseconds: Int64(number) * 1000) }

    private static func stored(_ number: UInt64) -> StoredClaims {
        let names = number.isMultiple(of: 7) ? 3000 + Int(number % 5000) : Int(number % 40)
        let claim = AlertClaim(
            topic: TopicID("topic \(number)"), through: time(number), expires: time(number + freshSteps),
            activities: (0..<names).map { ActivityMark(rawValue: UInt32($0) &* 7 &+ UInt32(number)) })
        return StoredClaims([claim], app: nil, now: time(number))
    }

    private static func completion(_ key: CompletionKey, _ number: UInt64) -> StoredCompletion {
        StoredCompletion(
            topic: TopicID("topic \(key.birth)"), app: nil, birth: key.birth, version: UInt32(number),
            displayHash: UInt32(number) &* 3, before: time(number), serials: number,
            exceptions: (0..<(number % 200)).map { ActivityMark(rawValue: UInt32($0) &+ UInt32(number)) })
    }

    func judge(store: String, done: Int, begun: Int) throws -> String? {
        let wanted = [states[done], states[min(begun, states.count - 1)]]
        let claims = try ClaimFolder(store: store, mapSize: ClaimPart.mapSize)
        defer { claims.close() }
        if let fault = try ClaimPart.compare(claims, with: wanted) { return fault }
        let next = UInt64(claims.stampCeiling ?? 0) + 1
        try claims.append([ClaimPart.stored(next)], CompletionChanges(), stampCeiling: Int64(next))
        claims.close()
        let again = try ClaimFolder(store: store, mapSize: ClaimPart.mapSize)
        defer { again.close() }
        var last: StoredClaims?
        try again.read { last = $0 }
        return last == ClaimPart.stored(next) && again.stampCeiling == Int64(next) ? nil : "the claims do not go on"
    }

    private static func compare(_ claims: ClaimFolder, with wanted: [State]) throws -> String? {
        let ceiling = UInt64(claims.stampCeiling ?? 0)
        guard let state = wanted.first(where: { $0.last == ceiling && $0.start == claims.start }) else {
            return "the mark is \(ceiling); \(wanted[0].last) was acknowledged, \(wanted[1].last) handed in"
        }
        var numbers: [UInt64] = []
        var fault: String?
        try claims.read { stored in
            let number = UInt64(stored.now.milliseconds / 1000)
            if stored != ClaimPart.stored(number) { fault = "claims \(number) are others" }
            numbers.append(number)
        }
        if state.last > 0 {
            let first = numbers.first ?? .max
            // Expired claims may stay, and the fresh ones must.
            if first > state.fresh || numbers != Array(first...max(first, state.last)) {
                fault = fault ?? "claims \(numbers), not those from \(state.fresh) to \(state.last)"
            }
        } else if !numbers.isEmpty {
            fault = fault ?? "claims \(numbers), and none was handed in"
        }
        var rest = state.completions
        let head = try claims.readCompletions { key, completion in
            guard let number = rest.removeValue(forKey: key), completion == ClaimPart.completion(key, number) else {
                fault = fault ?? "completion of topic \(key.birth) is another one"
                return
            }
        }
        if let fault { return fault }
        return rest.isEmpty && head == state.head
            ? nil : "\(rest.count) completions are missing, or their head is another"
    }
}
