/// Publications that are measured together, by what they bring and how urgent they are; the follows are a series of their own.
package enum Series: Int, Sendable, CaseIterable {
    /// A change with an essential alert.
    case goal
    /// Another alert.
    case alert
    /// Silent, at priority 10.
    case immediate
    /// Silent, at priority 5.
    case conserving
    /// The first state of an activity that has followed during the run.
    case follow

    package var name: String { "\(self)" }
}

/// Parts of a push's way, which have a histogram each.
package enum Stage: Int, Sendable, CaseIterable {
    case taken, decided, first, left, accepted, reached, last, age

    package var name: String { "\(self)" }
}
