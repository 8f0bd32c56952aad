import FanfareModel

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
