extension Duration {
    /// Reads the seconds of an option, up to a year, which is longer than any feed.
    init?(seconds text: String) {
        guard let seconds = Double(text), (0...31_536_000).contains(seconds) else { return nil }
        self = .seconds(seconds)
    }
}
