import CFanfareBench

/// Memory of a shard's activities as the system reports it. Runs in a process of its own, whose heap holds nothing else.
enum Memory {
    /// Prints one JSON object; all figures are bytes of the whole process except `token_bytes`.
    static func report(activities: Int) {
        let before = bench_resident_bytes()
        let fleet = Fleet(activities: activities)
        let loaded = bench_resident_bytes()
        let peakLoaded = bench_peak_resident_bytes()
        let tokenBytes = fleet.tokenBytes
        fleet.churnHalf(seed: 1)
        let churned = bench_resident_bytes()
        print(
            """
            {"activities": \(activities), "token_bytes": \(tokenBytes), "before": \(before), \
            "loaded": \(loaded), "loaded_peak": \(peakLoaded), "churned": \(churned)}
            """)
    }
}
