public import FanfareFanOut
public import FanfareModel

/// Change in an activity's life that the engine announces unasked.
public struct ActivityEvent: Sendable, Hashable {
    /// The app's id of the activity, as given to `follow` or `start`.
    public let activity: ActivityID
    /// End of the activity, or change of its card.
    public let fate: ActivityFate

    /// Creates an event for a program's tests; the engine creates its own.
    public init(activity: ActivityID, fate: ActivityFate) {
        self.activity = activity
        self.fate = fate
    }
}
