/// Names an activity within the process: 64 bits made from the id the app supplied.
public struct ActivityID: Hashable, Sendable {
    /// The 64 bits. They mean nothing outside the process that made them.
    public let rawValue: UInt64
    /// From bits that another `ActivityID` of this process had. Ids of the app go through `init(hashing:)`.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The same throughout the process, and another one in the next: a program that keeps a table of its ids by these makes it anew.
    /// With ten million activities two ids meet with a chance of 1 in 370,000, whoever has chosen them.
    public init(hashing id: some StringProtocol) { self.init(id.utf8.keyedHash) }
}
