package import FanfareModel

extension AppID {
    /// Parses `com.example.scores` or `com.example.scores/development`.
    package init?(written text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bundleID = parts.first, !bundleID.isEmpty else { return nil }
        guard parts.count == 2 else {
            self.init(bundleID: String(bundleID))
            return
        }
        guard let environment = Environment(rawValue: String(parts[1])) else { return nil }
        self.init(bundleID: String(bundleID), environment: environment)
    }
}
