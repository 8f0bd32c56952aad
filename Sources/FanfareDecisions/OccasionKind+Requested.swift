public import FanfareModel

extension OccasionKind {
    /// An alert that a native feed words itself.
    public static let requested = OccasionKind("requested")
}
