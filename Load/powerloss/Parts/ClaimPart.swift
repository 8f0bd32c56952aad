internal import FanfareLog
internal import FanfareModel

/// Claims of alerts and of starts, completions of followers and of lineups, and the stamp ceiling; claims expire after some steps.
package final class ClaimPart: Part {
    package static let name = "claims"

    private struct State: Equatable {
        var start: FeedTime?
        /// Number of the last claims, and the stamp ceiling; 0 without any.
        var last: UInt64 = 0
        /// Number of the first claims that have not expired.
        var fresh: UInt64 = 1
        /// All claims of starts, in order.
        var starts: [NamedStarts] = []
        /// Number of the first of `starts` that have expired, and may be gone.
        var expiredStarts = 0
        /// Time of the last claims of starts, or the time that such claims would have had; `nil` without claims.
        var startTime: FeedTime?
        var completions: [CompletionKey: UInt64] = [:]
        var head: CompletionHead?
    }

    /// Starts that a step has claimed, and the time of their claims in the store.
    private struct NamedStarts: Equatable {
        let step: UInt64
        let time: FeedTime

        var stored: StoredClaims { StoredClaims([], starts: ClaimPart.starts(step), app: nil, now: time) }
    }

    private let store: String
    private var claims: ClaimFolder?
    /// Time of the last claims since the folder was opened.
    private var lastTime: FeedTime?
    private var states = [State()]
    private static let mapSize = ByteCount.kibibytes(64)
    /// Steps that claims stay fresh.
    private static let freshSteps: UInt64 = 20
    /// Time between two steps: the greatest one by which the time of claims of starts advances with a commit.
    private static let stepMilliseconds: Int64 = 600_000
    /// Time after which claims of starts expire.
    private static let startAge = Duration.seconds(24 * 3600)

    package init(store: String) throws { self.store = store }

    package func close() {
        claims?.close()
        (claims, lastTime) = (nil, nil)
    }

    package func step() throws {
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
                let birth = (number &+ offset).mixed % 60
                let app = Int(offset % 2)
                if offset == 4 {
                    changes.forget(birth, app: app)
                    for scope in CompletionScope.allCases {
                        state.completions[CompletionKey(birth: birth, app: app, of: scope)] = nil
                    }
                } else {
                    let scope: CompletionScope = (number / 2).isMultiple(of: 2) ? .lineups : .followers
                    let key = CompletionKey(birth: birth, app: app, of: scope)
                    let head = CompletionHead(position: number, now: ClaimPart.time(number))
                    changes.note(ClaimPart.completion(key, number), at: key, head)
                    state.completions[key] = number
                    state.head = head
                }
            }
            try claims.append([ClaimPart.stored(number)], changes, stampCeiling: Int64(number))
            state.last = number
            state.fresh = max(2, number - min(number, ClaimPart.freshSteps))
            noteStarts(of: number, in: &state)
        }
        states.append(state)
    }

    /// Notes the claims of a step's starts. Their time advances with each commit, and goes on from the newest row when the folder is opened.
    private func noteStarts(of number: UInt64, in state: inout State) {
        let now = ClaimPart.time(number)
        let time =
            if let lastTime { (state.startTime ?? lastTime) + (now - lastTime) } else {
                state.starts.last?.time ?? now
            }
        (lastTime, state.startTime) = (now, time)
        let expired = state.starts.prefix { $0.time + ClaimPart.startAge < time }.count
        state.expiredStarts = max(state.expiredStarts, expired)
        if !ClaimPart.starts(number).isEmpty { state.starts.append(NamedStarts(step: number, time: time)) }
    }

    private func opened() throws -> ClaimFolder {
        if let claims { return claims }
        let opened = try ClaimFolder(store: store, mapSize: ClaimPart.mapSize)
        // Claims that are not read are never removed.
        try opened.read { _ in }
        claims = opened
        return opened
    }

    private static func time(_ number: UInt64) -> FeedTime {
        FeedTime(milliseconds: Int64(number) * stepMilliseconds)
    }

    /// Returns the claims of a step's alerts: of a topic, or of a lineup's topics.
    private static func alerts(_ number: UInt64) -> StoredClaims {
        let names = number.isMultiple(of: 7) ? 3000 + Int(number % 5000) : Int(number % 40)
        let activities = (0..<names).map { ActivityMark(rawValue: UInt32($0) &* 7 &+ UInt32(number)) }
        let topics = names < 40 ? 1 + number % 4 : 1
        let claims = (0..<topics).map { place in
            AlertClaim(
                topic: TopicID("topic \(number + place)"), through: time(number),
                expires: time(number + freshSteps - place), activities: activities)
        }
        return StoredClaims(claims, app: nil, now: time(number))
    }

    /// Returns the names of a step's starts; none in every third step.
    private static func starts(_ number: UInt64) -> [StartMark] {
        guard !number.isMultiple(of: 3) else { return [] }
        let activity = ActivityMark(rawValue: UInt32(truncatingIfNeeded: number.mixed))
        return (0...UInt32(number % 5)).map { StartMark(activity, number: $0) }
    }

    /// Returns the claims that a step hands in.
    private static func stored(_ number: UInt64) -> StoredClaims {
        StoredClaims(alerts(number).claims, starts: starts(number), app: nil, now: time(number))
    }

    private static func completion(_ key: CompletionKey, _ number: UInt64) -> StoredCompletion {
        StoredCompletion(
            topic: TopicID("topic \(key.birth)"), app: nil, birth: key.birth, version: UInt32(number),
            displayHash: UInt32(number) &* 3 &+ (key.scope == .lineups ? 1 : 0), before: time(number), serials: number,
            exceptions: (0..<(number % 200)).map { ActivityMark(rawValue: UInt32($0) &+ UInt32(number)) })
    }

    package func judge(store: String, done: Int, begun: Int) throws -> String? {
        let wanted = [states[done], states[min(begun, states.count - 1)]]
        let claims = try ClaimFolder(store: store, mapSize: ClaimPart.mapSize)
        defer { claims.close() }
        if let fault = try ClaimPart.compare(claims, with: wanted) { return fault }
        let next = UInt64(claims.stampCeiling ?? 0) + 1
        try claims.append([ClaimPart.stored(next)], CompletionChanges(), stampCeiling: Int64(next))
        claims.close()
        let again = try ClaimFolder(store: store, mapSize: ClaimPart.mapSize)
        defer { again.close() }
        var alerts: StoredClaims?
        var starts: StoredClaims?
        try again.read { if $0.starts.isEmpty { alerts = $0 } else { starts = $0 } }
        let named = ClaimPart.starts(next)
        return alerts == ClaimPart.alerts(next) && (named.isEmpty || starts?.starts == named)
            && again.stampCeiling == Int64(next) ? nil : "the claims do not go on"
    }

    private static func compare(_ claims: ClaimFolder, with wanted: [State]) throws -> String? {
        let ceiling = UInt64(claims.stampCeiling ?? 0)
        guard let state = wanted.first(where: { $0.last == ceiling && $0.start == claims.start }) else {
            return "the mark is \(ceiling); \(wanted[0].last) was acknowledged, \(wanted[1].last) handed in"
        }
        var numbers: [UInt64] = []
        var starts: [StoredClaims] = []
        var fault: String?
        try claims.read { stored in
            guard stored.starts.isEmpty else { return starts.append(stored) }
            let number = UInt64(stored.now.milliseconds / ClaimPart.stepMilliseconds)
            if stored != ClaimPart.alerts(number) { fault = "claims \(number) are others" }
            numbers.append(number)
        }
        fault = fault ?? compare(starts, with: state)
        if state.last > 0 {
            let first = numbers.first ?? .max
            // Expired claims may stay, and the fresh ones must.
            if first > state.fresh || numbers != Array(first...max(first, state.last)) {
                fault = fault ?? "claims \(numbers), not those from \(state.fresh) to \(state.last)"
            }
        } else if !numbers.isEmpty {
            fault = fault ?? "claims \(numbers), and none was handed in"
        }
        return try fault ?? compareCompletions(claims, with: state)
    }

    /// Compares the claims of starts that a folder has with those that it must have, and may have.
    private static func compare(_ starts: [StoredClaims], with state: State) -> String? {
        let fresh = state.starts.count - state.expiredStarts
        return starts.count >= fresh && starts == state.starts.suffix(starts.count).map(\.stored)
            ? nil : "\(starts.count) claims of starts, not those of \(fresh) to \(state.starts.count) steps"
    }

    private static func compareCompletions(_ claims: ClaimFolder, with state: State) throws -> String? {
        var rest = state.completions
        var fault: String?
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
