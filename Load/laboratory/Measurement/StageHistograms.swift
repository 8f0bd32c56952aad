/// Histograms of the stages of a push's way, by series and by topic kind.
package struct StageHistograms: Sendable {
    fileprivate static let groups = Series.allCases.count + PublicationTable.kindsMax
    /// By group, then by stage: the series come first, then the topic kinds.
    fileprivate var histograms = Array(repeating: LatencyHistogram(), count: groups * Stage.allCases.count)

    package init() {}

    private static func place(_ group: Int, _ stage: Stage) -> Int { group * Stage.allCases.count + stage.rawValue }

    package mutating func record(_ stage: Stage, _ row: PublicationTable.Row, nanoseconds: Int64, times: Int = 1) {
        for group in [row.series.rawValue, Series.allCases.count + Int(row.kind)] {
            histograms[StageHistograms.place(group, stage)].record(nanoseconds: nanoseconds, times: times)
        }
    }

    package subscript(_ series: Series, _ stage: Stage) -> LatencyHistogram {
        histograms[StageHistograms.place(series.rawValue, stage)]
    }

    package subscript(kind index: Int, _ stage: Stage) -> LatencyHistogram {
        histograms[StageHistograms.place(Series.allCases.count + index, stage)]
    }

    /// Times of all series together.
    package func all(_ stage: Stage) -> LatencyHistogram {
        Series.allCases.reduce(into: LatencyHistogram()) { $0.merge(self[$1, stage]) }
    }

    package mutating func merge(_ other: StageHistograms) {
        for place in histograms.indices { histograms[place].merge(other.histograms[place]) }
    }

    /// Distributions that have a value: of each series, with `all` if there are several, and of each kind.
    ///
    /// - Parameter kinds: names of the topic kinds, by index.
    package func latencies(kinds: [String]) -> [Latency] {
        var all: [Latency] = []
        func add(_ name: String, _ stage: Stage, _ histogram: LatencyHistogram) {
            if histogram.count > 0 { all.append(Latency(series: name, stage: stage.name, histogram: histogram)) }
        }
        for stage in Stage.allCases {
            for series in Series.allCases { add(series.name, stage, self[series, stage]) }
            add("all", stage, self.all(stage))
            for (index, kind) in kinds.enumerated() { add("kind/\(kind)", stage, self[kind: index, stage]) }
        }
        return all
    }
}

/// `StageHistograms` at rest.
package struct SparseStageHistograms: Sendable {
    private let parts: [(place: Int, histogram: SparseHistogram)]

    package init(_ stages: StageHistograms) {
        parts = stages.histograms.enumerated().compactMap { place, histogram in
            histogram.count > 0 ? (place, SparseHistogram(histogram)) : nil
        }
    }

    package var histograms: StageHistograms {
        var stages = StageHistograms()
        for (place, histogram) in parts { stages.histograms[place] = histogram.histogram }
        return stages
    }
}
