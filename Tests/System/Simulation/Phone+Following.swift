import FanfareModel

extension Phone {
    /// The audience that the shard knows the activity to be in: the oracle of moves.
    struct Following {
        private(set) var served: AudienceKey?
        /// Audience served before it left. Its card, if there is one, shows that until its end.
        private(set) var left: AudienceKey?
        /// Turn of the topic that it follows; unused for a lineup.
        private(set) var tenure = 0
        /// Audience that it was moved to while its end was in flight, and goes to if that does not arrive; `nil` for nowhere.
        var postponed: AudienceKey?
        private(set) var joinedAt = MonotonicTime.always
        /// Number of times that it has joined an audience.
        private(set) var joins = 0
        /// Time since which publications wait for it; a card without a token is not a member.
        var memberSince = MonotonicTime.always

        mutating func join(_ audience: AudienceKey?, tenure: Int, at now: MonotonicTime) {
            postponed = nil
            if audience == nil { left = served }
            served = audience
            self.tenure = tenure
            joinedAt = now
            joins += 1
            memberSince = now
        }
    }

    /// The tokens that it has had: the oracle of where pushes go.
    struct Tokens {
        /// Token of the app.
        private(set) var current: [UInt8]
        /// Token that the shard knows.
        private(set) var served: [UInt8]
        /// Target of later starts of its card and of the successor, as the shard knows it.
        var start: [UInt8]
        /// Is `true` if the shard has had another one before.
        private(set) var isNew = false
        private var all: [[UInt8]]
        /// First token that it had: the target of the starts of this card and of those that renew it.
        var first: [UInt8] { all[0] }

        init(_ token: [UInt8]) { (current, served, start, all) = (token, token, token, [token]) }

        static func make(using random: inout SplitMix64) -> [UInt8] {
            (0..<[54, 80].randomElement(using: &random)!).map { _ in UInt8.random(in: 0...255, using: &random) }
        }

        mutating func renew(using random: inout SplitMix64) {
            current = Tokens.make(using: &random)
            all.append(current)
        }

        /// Notes that the shard has this token.
        ///
        /// - Returns: `true` if it had another one.
        mutating func serve(_ token: [UInt8]) -> Bool {
            guard token != served else { return false }
            served = token
            isNew = true
            return true
        }

        func hasUsed(_ token: [UInt8]) -> Bool { all.contains(token) }
    }

    /// The activity's name, which may mean another card before or after it.
    struct Naming {
        /// Is `true` if the shard knows the phone: it was followed, or is to be started.
        var isIntroduced = false
        /// Is `true` if another card has its name since its own card was unfollowed.
        private(set) var isDetached = false
        /// Is `true` if earlier cards had its name.
        var wasUsed = false
        /// Is `true` if it is gone and the core has heard everything about it, so that its name is free.
        var isForgotten = false

        mutating func detach() { isDetached = true }
    }
}
