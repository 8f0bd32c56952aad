extension Duration {
    var inSeconds: Double { self / .seconds(1) }

    /// Nanoseconds of a duration of days at most, as scenarios have them.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
