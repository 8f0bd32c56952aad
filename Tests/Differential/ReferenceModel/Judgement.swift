import FanfareDecisions
import FanfareModel

/// Plays a feed to the decision core and to the model.
package enum Judgement {
    /// Returns the first difference; `nil` if both agree on every version that people saw and on the final state.
    package static func of(_ feed: GameFeed) -> String? {
        var core = DecisionCore(rules: feed.rules, isLive: false)
        var decisions: [Decision] = []
        var versions: [ReferenceModel.Version] = []
        var revoked: [String] = []
        var forgotten: [Int64] = []
        func take() {
            var publication: Publication?
            for decision in decisions {
                switch decision {
                case .publish(let new): publication = new
                case .revokeAlert(_, let cause): revoked.append(cause)
                case .forget, .order: break
                case .record(let record):
                    if record.forgets { forgotten.append((record.now - GameFeed.zero).milliseconds) }
                    guard let published = publication else { continue }
                    publication = nil
                    versions.append(
                        ReferenceModel.Version(
                            at: (record.now - GameFeed.zero).milliseconds,
                            state: String(decoding: published.state.bytes, as: UTF8.self),
                            ends: published.event == .end, alert: published.alert?.cause))
                }
            }
            decisions.removeAll(keepingCapacity: true)
        }
        for arrival in feed.arrivals {
            core.apply(feed.event(arrival), now: GameFeed.zero + .milliseconds(arrival.now), into: &decisions)
            take()
        }
        core.finish(into: &decisions)
        take()
        let model = ReferenceModel(feed)
        for (number, pair) in zip(versions, model.versions).enumerated() where pair.0 != pair.1 {
            return "version \(number + 1): shown \(pair.0), expected \(pair.1)"
        }
        if versions.count != model.versions.count {
            let extra = (versions.count > model.versions.count ? versions : model.versions).last
            return
                "\(versions.count) versions shown, \(model.versions.count) expected; last is \(extra.map { "\($0)" } ?? "-")"
        }
        var state: [UInt8] = []
        core.topic(GameFeed.topic)?.state.write(to: &state)
        let final = String(decoding: state, as: UTF8.self)
        // An unknown or forgotten topic has no state.
        let expected = model.finalState ?? ""
        if final != expected { return "final state \(final), expected \(expected)" }
        if forgotten != model.forgotten { return "forgotten at \(forgotten), expected \(model.forgotten)" }
        if revoked != model.revoked { return "revoked alerts \(revoked), expected \(model.revoked)" }
        return nil
    }

    /// Leaves out arrivals while the feed is still judged wrong. Returns the smallest such feed and its fault.
    package static func shrink(_ feed: GameFeed) -> (feed: GameFeed, fault: String)? {
        guard var fault = of(feed) else { return nil }
        var smallest = feed
        var size = max(1, feed.arrivals.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < smallest.arrivals.count {
                var candidate = smallest
                candidate.arrivals.removeSubrange(start..<min(start + size, candidate.arrivals.count))
                if let still = of(candidate) {
                    (smallest, fault) = (candidate, still)
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { return (smallest, fault) }
            size = max(1, size / 2)
        }
    }

    /// Judges the feeds of these seeds. Returns the first fault with its seed and its shrunk feed.
    package static func firstFault(seeds: Range<UInt64>) -> String? {
        for seed in seeds {
            guard let (feed, fault) = shrink(GameFeed(seed: seed)) else { continue }
            return "seed \(seed): \(fault)\n" + feed.arrivals.map { "  \($0)\n" }.joined()
        }
        return nil
    }
}
