import FanfareModel

/// The open publications of a shard: each is open until all its audiences have it, or until it is overtaken by a newer one.
///
/// A publication is open for each audience that lacks it. Its last audience completes it.
struct PublicationTracker {
    private struct Open {
        /// Number of audiences that lack the publication.
        var audiencesLeft: Int
        let arrivedAt: MonotonicTime
        let freshness: Int
    }

    /// The completion of a publication.
    struct Completion: Equatable {
        /// Nanoseconds for which the publication was open; 0 if no audience lacked it.
        let took: Int64
        /// Index of its kind's figures, as given to `open`.
        let freshness: Int
    }

    /// Base of the shard's own serials, whose completion the core does not await. They are far above the core's.
    static let ownSerials: UInt64 = 1 << 63

    private var open = SerialTable<Open>()
    /// Publications in order of arrival. The first is open. Some of the others may be closed, but no more than are open.
    private var arrivals = Queue<(serial: UInt64, at: MonotonicTime)>()
    private var ownSerialsGiven: UInt64 = 0

    var count: Int { open.count }
    var isEmpty: Bool { open.isEmpty }

    /// Arrival of the publication that has been open longest.
    var oldestArrival: MonotonicTime? { arrivals.first?.at }

    mutating func nextOwnSerial() -> UInt64 {
        ownSerialsGiven += 1
        return PublicationTracker.ownSerials + ownSerialsGiven
    }

    /// Opens a publication that has just arrived.
    ///
    /// - Parameters:
    ///   - audiences: number of audiences that lack it, at least one.
    ///   - freshness: index of its kind's figures.
    mutating func open(_ serial: UInt64, audiences: Int, freshness: Int, at now: MonotonicTime) {
        open.insert(Open(audiencesLeft: audiences, arrivedAt: now, freshness: freshness), at: serial)
        arrivals.append((serial, now))
    }

    /// Notes that one more audience lacks the publication.
    mutating func addAudience(to serial: UInt64) { open.update(serial) { $0.audiencesLeft += 1 } }

    /// Notes that one audience has the publication.
    ///
    /// - Returns: the completion, if that was the last audience; `nil` also for a publication that was overtaken.
    mutating func complete(_ serial: UInt64, at now: MonotonicTime) -> Completion? {
        let publication = open.update(serial) { publication in
            publication.audiencesLeft -= 1
            return publication
        }
        guard let publication, publication.audiencesLeft == 0 else { return nil }
        open.remove(serial)
        forgetClosed()
        return Completion(took: now.nanoseconds(since: publication.arrivedAt), freshness: publication.freshness)
    }

    /// Ends the tracking of a publication that a newer one overtakes.
    ///
    /// - Returns: whether the publication was open.
    mutating func overtake(_ serial: UInt64) -> Bool {
        guard open.remove(serial) != nil else { return false }
        forgetClosed()
        return true
    }

    private mutating func forgetClosed() {
        while let first = arrivals.first, open[first.serial] == nil { arrivals.removeFirst() }
        if arrivals.count > 2 * open.count { arrivals.removeAll { [open] in open[$0.serial] == nil } }
    }

    func violation() -> String? {
        guard arrivals.count <= 2 * open.count, arrivals.first.map({ open[$0.serial] != nil }) ?? open.isEmpty else {
            return "\(arrivals.count) publications stand in the order of arrival, \(open.count) are open"
        }
        for (serial, publication) in open.all {
            guard publication.audiencesLeft > 0 else { return "publication \(serial) is open and nobody lacks it" }
            guard serial <= PublicationTracker.ownSerials + ownSerialsGiven else {
                return "publication \(serial) has a serial that was never given"
            }
        }
        return open.violation()
    }
}
