/// The plain rotation of a lineup: what changed most recently stands first and has the spotlight.
public enum Rotation {
    /// - Parameter lastChanges: per topic of the lineup, the serial of the newest publication that changed what people see; `nil` before its first.
    /// - Returns: positions of the topics that have something to show, in display order.
    public static func order(lastChanges: [UInt64?]) -> [Int] {
        lastChanges.indices
            .compactMap { position in lastChanges[position].map { (position: position, serial: $0) } }
            .sorted { $0.serial > $1.serial }
            .map(\.position)
    }
}
