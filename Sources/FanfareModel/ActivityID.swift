/// Identifies an activity within the process: 64 bits, hashed from the app's id.
public struct ActivityID: Hashable, Sendable {
    /// The 64 bits. They mean nothing outside the process that made them.
    public let rawValue: UInt64
    /// Creates an id from the bits of another `ActivityID` of this process. For ids of the app, use `init(hashing:)`.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Hashes an id of the app. Equal ids give equal results throughout a process but not in the next one, so a program that keeps
    /// a table by these ids rebuilds it. Among ten million activities, two ids collide with a chance of 1 in 370,000, even if an
    /// attacker chooses them.
    public init(hashing id: some StringProtocol) { self.init(id.utf8.keyedHash) }
}
