/// The kind of change that an arrival brings to its topic.
package enum Occasion: String, Sendable, CaseIterable {
    /// Nothing visible: a pass, a position.
    case noise
    /// A visible change without an alert: a substitution, a stop less.
    case update
    /// A change with an essential alert: a goal, an arrival.
    case goal
    /// A kick of a shoot-out: essential and silent. Football only.
    case kick
    /// The next period of a match. Football only.
    case period
}
