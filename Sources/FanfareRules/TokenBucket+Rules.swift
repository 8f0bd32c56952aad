import FanfareModel
import FanfareTOML

extension TableReader {
    func bucket(_ key: String) -> TokenBucket.Size? {
        guard let bucket = table(key) else { return nil }
        defer { bucket.finish() }
        let size = bucket.bucketSize()
        return bucket.has("burst", "refill") ? size : nil
    }

    /// Returns the size of a bucket whose keys stand in this table, beside others.
    func bucketSize() -> TokenBucket.Size? {
        let burst = whole("burst", 1...1000)
        let refill = duration("refill", .milliseconds(1) ... .seconds(86_400))
        guard let burst, let refill else { return nil }
        return TokenBucket.Size(burst: burst, refill: refill)
    }
}

extension TokenBucket.Size {
    /// Keys of the size and their values, as they stand in a table.
    var inRules: String { "burst = \(burst), refill = \(quoted(refill.inRules))" }
}
