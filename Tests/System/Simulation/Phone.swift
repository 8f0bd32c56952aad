import FanfareFanOut
import FanfareModel

/// One activity as the world sees it: what its device shows, and what the shard knows of it. The screen is the truth. Parts know nothing of each
/// other; the phone tells them what happens. What was pushed to the phone is its `PushHistory`.
struct Phone {
    let id: ActivityID
    let node: Int
    /// Audience that the person chose last.
    var audience: AudienceKey
    var screen = Screen()
    var following = Following()
    var tokens: PhoneTokens
    /// The card of an activity started by a push; `nil` if the app started the activity.
    var card: StartedCard?
    var naming = CardNaming()
    var life = PhoneLife()

    /// Audience that the shard knows; `nil` before the follow and after an unfollow.
    var served: AudienceKey? { following.served }
    /// Is `true` if the person looks at a card that somebody still cares for.
    var isLive: Bool { life.goesOn && !screen.hasEnded }
    /// Is `true` if pushes can go to an update token.
    var hasToken: Bool { card?.isRegistered ?? true }
    /// Is `true` if the shard knows the activity to follow a lineup.
    var showsLineup: Bool { if case .lineup = served { true } else { false } }

    init(id: ActivityID, node: Int, audience: AudienceKey, using random: inout SplitMix64) {
        self.id = id
        self.node = node
        self.audience = audience
        tokens = PhoneTokens(PhoneTokens.make(using: &random))
    }

    /// Makes the successor of a card.
    init(renewing old: Phone, id: ActivityID) {
        self.id = id
        node = old.node
        audience = old.audience
        tokens = PhoneTokens(old.tokens.start)
        naming.isIntroduced = true
        naming.wasUsed = old.naming.wasUsed
    }

    // MARK: What the shard is told

    /// Notes that the shard knows the phone's new audience.
    ///
    /// - Parameter tenure: tenure of the topic that it follows.
    /// - Returns: `true` if the phone joins the audience: an activity whose end is in flight does not move yet, though it leaves.
    @discardableResult
    mutating func joined(_ audience: AudienceKey?, tenure: Int, at now: MonotonicTime) -> Bool {
        guard !life.isGone, !life.isEnding || audience == nil, served != audience else { return false }
        following.join(audience, tenure: tenure, at: now)
        return true
    }

    /// Notes that the shard has the card's token.
    mutating func registered(at now: MonotonicTime) {
        if !hasToken { following.memberSince = now }
        card?.isRegistered = true
    }

    /// Notes that another card has its name: it is still to be ended under its own token.
    mutating func partsFromName() {
        naming.detach()
        following.postponed = nil
    }

    /// Is `true` if both show the same tenure of the same audience.
    func showsTheSame(as other: Phone) -> Bool {
        served == other.served && following.tenure == other.following.tenure
    }

    // MARK: Pushes

    mutating func sentStart(arrives: Bool, at now: MonotonicTime) {
        card?.isOut = true
        screen.sentStart(arrives: arrives)
        life.beganAt = now
    }

    /// Is `true` if nothing follows the push, though it was refused: it was the private end of who has left.
    func isLast(_ flight: Flight) -> Bool {
        flight.outcome == .refused && flight.payload.event == .end && (served == nil || naming.isDetached)
    }

    /// - Parameters:
    ///   - isServed: `true` if the push went to the token that the shard has.
    ///   - isLast: `true` if nothing follows the push, though it was refused.
    mutating func answered(_ flight: Flight, isServed: Bool, isHeld: Bool, isLast: Bool) {
        screen.answered(flight)
        life.answered(flight, isServed: isServed, isHeld: isHeld, isLast: isLast)
    }
}
