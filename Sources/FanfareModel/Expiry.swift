/// Treatment of an activity that is about to reach eight hours while its topic continues (rule L1).
package struct Expiry: Sendable, Hashable {
    /// Renews the activity as a new one, if the engine can start it; otherwise it ends.
    package var renews: Bool
    /// Time at which the card leaves the Lock Screen after an end at eight hours.
    package var dismissal: DismissalTime

    package init(renews: Bool = false, dismissal: DismissalTime = .after(.seconds(1800))) {
        self.renews = renews
        self.dismissal = dismissal
    }
}
