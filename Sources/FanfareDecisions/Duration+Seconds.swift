import FanfareModel

extension Duration {
    /// Human-readable seconds: `2 s`, `0.25 s`.
    var inSeconds: String {
        let milliseconds = self.milliseconds
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000) s" }
        return "\(Double(milliseconds) / 1000) s"
    }
}
