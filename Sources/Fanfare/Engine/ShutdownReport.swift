/// Deliveries that a stopped engine left undone.
public struct ShutdownReport: Sendable, Hashable {
    /// Activities that still lacked a push when the time was over. APNs may have accepted pushes whose answers were pending.
    public let owed: Int
    /// Activities for which APNs refused the newest state for good.
    public let refused: Int
    /// Feed events and orders that were taken and are not known to be durable, because the store did not answer until two seconds
    /// after the time was over. The store may still take them.
    public let unstored: Int

    /// Is `true` if every activity has got its pushes, except those that APNs refused for good, and nothing was given up.
    public var isDrained: Bool { owed == 0 && unstored == 0 }

    /// Creates a report for a program's tests; the engine creates its own.
    public init(owed: Int, refused: Int, unstored: Int = 0) {
        self.owed = owed
        self.refused = refused
        self.unstored = unstored
    }
}
