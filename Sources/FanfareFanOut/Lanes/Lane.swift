/// The lanes by number, the most urgent one first (`Lanes`).
enum Lane {
    static let count = 4
    /// The lane of members whose only remaining work is for activities whose last push failed.
    static let last = count - 1
}
