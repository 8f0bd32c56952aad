/// Histograms of the stages of a push's way, by series and by topic kind.
package struct StageHistograms: Sendable {
    private static let groups = Series.allCases.count + PublicationTable.kindsMax
    /// Number of histograms of the series.
    fileprivate static let ofSeries = Series.allCases.count * Stage.allCases.count
    /// By group, then by stage: the series come first, then the topic kinds.
    fileprivate var histograms = Array(repeating: LatencyHistogram(), count: groups * Stage.allCases.count)

    package init() {}

    private static func place(_ group: Int, _ stage: Stage) -> Int { group * Stage.allCases.count + stage.rawValue }

    package mutating func record(_ stage: Stage, _ row: PublicationTable.Row, nanoseconds: Int64, times: Int = 1) {
        let series = StageHistograms.place(row.series.rawValue, stage)
        let kind = StageHistograms.place(Series.allCases.count + Int(row.kind), stage)
        histograms[series].record(nanoseconds: nanoseconds, times: times)
        histograms[kind].record(nanoseconds: nanoseconds, times: times)
    }

    package subscript(_ series: Series, _ stage: Stage) -> LatencyHistogram {
        histograms[StageHistograms.place(series.rawValue, stage)]
    }

    package fileprivate(set) subscript(kind index: Int, _ stage: Stage) -> LatencyHistogram {
        get { histograms[StageHistograms.place(Series.allCases.count + index, stage)] }
        set { histograms[StageHistograms.place(Series.allCases.count + index, stage)] = newValue }
    }

    /// Times of all series together.
    package func all(_ stage: Stage) -> LatencyHistogram {
        Series.allCases.reduce(into: LatencyHistogram()) { $0.merge(self[$1, stage]) }
    }

    package mutating func merge(_ other: StageHistograms) {
        for place in histograms.indices { histograms[place].merge(other.histograms[place]) }
    }

    /// Distributions that have a value: of each series, of `all`, and of each kind.
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

/// `StageHistograms` at rest. The times of a lone topic kind are those of all series, so they are kept once.
package struct SparseStageHistograms: Sendable {
    private let parts: [(place: Int, histogram: SparseHistogram)]
    private let loneKind: Int?

    package init(_ stages: StageHistograms) {
        let kinds = (0..<PublicationTable.kindsMax).filter { kind in
            Stage.allCases.contains { stages[kind: kind, $0].count > 0 }
        }
        loneKind = kinds.count == 1 ? kinds[0] : nil
        let histograms = loneKind == nil ? stages.histograms[...] : stages.histograms.prefix(StageHistograms.ofSeries)
        parts = histograms.enumerated().compactMap { place, histogram in
            histogram.count > 0 ? (place, SparseHistogram(histogram)) : nil
        }
    }

    package var histograms: StageHistograms {
        var stages = StageHistograms()
        for (place, histogram) in parts { stages.histograms[place] = histogram.histogram }
        if let loneKind {
            for stage in Stage.allCases { stages[kind: loneKind, stage] = stages.all(stage) }
        }
        return stages
    }

    package var bytes: Int {
        parts.capacity * MemoryLayout<(Int, SparseHistogram)>.stride + parts.reduce(0) { $0 + $1.histogram.size }
    }
}
