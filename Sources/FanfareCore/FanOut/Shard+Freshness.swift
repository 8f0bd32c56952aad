extension Shard {
    /// How fresh this shard's people are kept, since its start.
    public func freshnessReport(at moment: Moment) -> FreshnessReport {
        var report = FreshnessReport()
        report.lastAccepted = lastAccepted
        for (kind, figures) in freshness { report.kinds[kind] = figures }
        let now = moment.monotonicNanoseconds
        report.oldestUndelivered = now - min(now, publications.oldestArrival ?? now)
        return report
    }

    /// Where this kind's figures are kept; asked for once per publication. Feeds make up kinds: those beyond the first few are
    /// counted together.
    func freshnessIndex(of kind: TopicKind) -> Int {
        if let known = freshness.firstIndex(where: { $0.kind == kind }) { return known }
        guard freshness.count < Freshness.kindsMax || kind == .other else { return freshnessIndex(of: .other) }
        freshness.append((kind, Freshness()))
        return freshness.count - 1
    }

    /// Pushes of an audience's newest version leave, to members who had the same version before.
    func noteSent(_ count: Int, having delivered: UInt32, of audience: Audience, at moment: Moment) {
        let now = moment.monotonicNanoseconds
        if let waiting = audience.takeWaiting(), let lane = audience.lane, lane < Lanes.lastLane {
            freshness[audience.freshness].figures.laneDelay[lane].record(now - waiting)
        }
        guard delivered != audience.target else { return }  // a joiner, or a repeat
        freshness[audience.freshness].figures.stateAge.record(now - audience.publishedAt, times: count)
    }
}
