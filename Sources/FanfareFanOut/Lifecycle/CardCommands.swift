import FanfareModel

/// Carries out the commands for cards. A command for an activity that nobody knows, or with a token that is none, is refused and changes nothing.
final class CardCommands {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let lifecycle: Lifecycle
    private let moves: Moves
    private let starter: Starter
    private let follows: Follows

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ lifecycle: Lifecycle, _ moves: Moves,
        _ starter: Starter, _ follows: Follows
    ) {
        self.reporter = reporter
        self.membership = membership
        self.lifecycle = lifecycle
        self.moves = moves
        self.starter = starter
        self.follows = follows
    }

    /// Announces follows of cards from the store.
    func beginLoading(at moment: Moment) { follows.beginLoading(at: moment) }

    func endLoading(at moment: Moment) { follows.endLoading(at: moment) }

    func follow(_ new: Follow, at moment: Moment) { follows.follow(new, at: moment) }

    func start(_ request: StartRequest, _ key: AudienceKey, at moment: Moment) {
        starter.start(request, key, at: moment)
    }

    func move(_ id: ActivityID, to key: AudienceKey, at moment: Moment) { moves.move(id, to: key, at: moment) }

    func unfollow(_ id: ActivityID, at moment: Moment) { lifecycle.unfollow(id, at: moment) }

    /// Sets the preferences of the card that the name means now, which may be a successor.
    func setPreferences(_ preferences: Preferences, of id: ActivityID) {
        guard let slot = lifecycle.slot(of: id) else { return reporter.refuse(id, .unknownActivity) }
        lifecycle.setPreferences(preferences, for: slot)
    }

    /// Replaces the token of the card with this name, and not that of a successor: a token belongs to one card.
    func replaceToken(_ token: [UInt8], of id: ActivityID, at moment: Moment) {
        if let refusal = CommandRefusal(token: token) { return reporter.refuse(id, refusal) }
        guard let slot = membership.slot(of: id) else { return reporter.refuse(id, .unknownActivity) }
        starter.takeToken(token, of: slot, at: moment)
    }
}
