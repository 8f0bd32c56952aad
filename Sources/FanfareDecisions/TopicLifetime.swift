public import FanfareModel

/// Lifetime of a topic: its beginning, its end, the dismissal of its card, and the time for which the core remembers it.
public struct TopicLifetime: Sendable, Hashable {
    /// Conditions under which the topic has begun; all must hold for its state. A topic that has not begun gets no spotlight in a lineup. Empty: the
    /// topic begins with its first state.
    public var beginsWhen: [Condition]
    /// Silence of the feed after which a topic that has not begun ends. Line-ups come hours before a kick-off, and a fixture is
    /// known for days.
    public var beginsWithin: Duration
    /// Conditions that end the topic once all of them hold for its state (rule L2). Empty: the feed ends it.
    public var endsWhen: [Condition]
    /// Silence of the feed after which a topic that has begun ends, with its newest state: a dead feed must not leave cards on
    /// phones for ever (rule L1).
    public var endsAfterSilence: Duration
    /// Time for which the card stays after the topic's end.
    public var dismissal: Dismissal
    /// Time for which the core remembers a topic after the dismissal of its end, and recognises late events. The topic's id denotes a new topic after
    /// that.
    public var forgetAfter: Duration
    /// Effect of a feed on an ended topic that the core still remembers: the topic may begin again, or may not.
    public var reopens: Reopening
    /// Renews an activity that has lasted the system's 8 hours (rule L1) if the engine can start a successor; the activity ends otherwise.
    public var renews: Bool

    /// Creates a lifetime. By default a topic begins with its first state, ends when its feed says so or is silent for a day, and
    /// cannot begin again.
    public init(
        beginsWhen: [Condition] = [], beginsWithin: Duration = .seconds(7 * 24 * 3600),
        endsWhen: [Condition] = [], endsAfterSilence: Duration = .seconds(24 * 3600),
        dismissal: Dismissal = .proportional, forgetAfter: Duration = .seconds(4 * 3600),
        reopens: Reopening = .never, renews: Bool = false
    ) {
        self.beginsWhen = beginsWhen
        self.beginsWithin = beginsWithin
        self.endsWhen = endsWhen
        self.endsAfterSilence = endsAfterSilence
        self.dismissal = dismissal
        self.forgetAfter = forgetAfter
        self.reopens = reopens
        self.renews = renews
    }
}

/// Ways in which a feed can begin an ended topic again.
public enum Reopening: String, Sendable, CaseIterable {
    /// The topic cannot begin again until the core has forgotten it.
    case never
    /// A start begins the topic as if it were new: a table's number that is given to the next guests.
    case afresh
    /// A start, or any visible change, continues the topic from where it ended: a match that is resumed.
    case resumed
}
