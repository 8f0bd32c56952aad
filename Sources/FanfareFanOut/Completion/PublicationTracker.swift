import FanfareModel
import FanfareQueues

/// The tracked publications of a shard: each is tracked until all its audiences have it, or until it is overtaken by a newer one.
///
/// A publication is tracked for each audience that lacks it. Its last audience completes it.
struct PublicationTracker {
    private struct Tracked {
        /// Number of audiences that lack the publication.
        var audiencesLeft: Int
        let arrivedAt: MonotonicTime
        let freshness: Int
    }

    /// The completion of a publication.
    struct Completion: Equatable {
        /// Nanoseconds for which the publication was tracked; 0 if no audience lacked it.
        let took: Int64
        /// Index of its kind's figures, as given to `track`.
        let freshness: Int
    }

    private var tracked = SerialTable<Tracked>()
    /// Publications in order of arrival. The first is tracked. Some of the others may be complete, but no more than are tracked.
    private var arrivals = Queue<(serial: UInt64, at: MonotonicTime)>()
    private var ownSerialsGiven: UInt64 = 0

    var count: Int { tracked.count }
    var isEmpty: Bool { tracked.isEmpty }

    /// Arrival of the publication that has been tracked longest.
    var oldestArrival: MonotonicTime? { arrivals.first?.at }

    mutating func nextOwnSerial() -> UInt64 {
        ownSerialsGiven += 1
        return Publication.ownSerials + ownSerialsGiven
    }

    /// Begins to track a publication that has just arrived.
    ///
    /// - Parameters:
    ///   - audiences: number of audiences that lack it, at least one.
    ///   - freshness: index of its kind's figures.
    mutating func track(_ serial: UInt64, audiences: Int, freshness: Int, at now: MonotonicTime) {
        tracked.insert(Tracked(audiencesLeft: audiences, arrivedAt: now, freshness: freshness), at: serial)
        arrivals.append((serial, now))
    }

    /// Notes that one more audience lacks the publication.
    mutating func addAudience(to serial: UInt64) { tracked.update(serial) { $0.audiencesLeft += 1 } }

    /// Notes that one audience has the publication.
    ///
    /// - Returns: the completion, if that was the last audience; `nil` also for a publication that was overtaken.
    mutating func complete(_ serial: UInt64, at now: MonotonicTime) -> Completion? {
        let publication = tracked.update(serial) { publication in
            publication.audiencesLeft -= 1
            return publication
        }
        guard let publication, publication.audiencesLeft == 0 else { return nil }
        tracked.remove(serial)
        forgetClosed()
        return Completion(took: now.nanoseconds(since: publication.arrivedAt), freshness: publication.freshness)
    }

    /// Ends the tracking of a publication that a newer one overtakes.
    ///
    /// - Returns: whether the publication was tracked.
    mutating func overtake(_ serial: UInt64) -> Bool {
        guard tracked.remove(serial) != nil else { return false }
        forgetClosed()
        return true
    }

    private mutating func forgetClosed() {
        while let first = arrivals.first, tracked[first.serial] == nil { arrivals.removeFirst() }
        if arrivals.count > 2 * tracked.count { arrivals.removeAll { [tracked] in tracked[$0.serial] == nil } }
    }

    func violation() -> String? {
        guard arrivals.count <= 2 * tracked.count, arrivals.first.map({ tracked[$0.serial] != nil }) ?? tracked.isEmpty
        else {
            return "\(arrivals.count) publications stand in the order of arrival, \(tracked.count) are tracked"
        }
        for (serial, publication) in tracked.all {
            guard publication.audiencesLeft > 0 else { return "publication \(serial) is tracked and nobody lacks it" }
            guard serial <= Publication.ownSerials + ownSerialsGiven else {
                return "publication \(serial) has a serial that was never given"
            }
        }
        return tracked.violation()
    }
}
