/// Rules for an entry: the newest ones at or before its position, and the release that decides by them.
package struct LogRules: Sendable, Equatable {
    /// Rules file.
    package let text: String
    /// Version of the code that first decided the entries from here on. Another version decides them in its own way, so topics may show other states
    /// than before.
    package let decisionVersion: UInt64

    package init(text: String, decisionVersion: UInt64) {
        self.text = text
        self.decisionVersion = decisionVersion
    }
}
