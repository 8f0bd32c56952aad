import FanfareModel

/// Publications that somebody in the shard still lacks, until everybody has each of them or it is overtaken by a newer one.
///
/// A publication is open for each audience that lacks it. Its last audience completes it. All times are monotonic nanoseconds.
struct PublicationTracker {
    private struct Open {
        /// Audiences that lack it.
        var audiencesLeft: Int
        let arrivedAt: Int64
        let freshness: Int
    }

    /// How long a publication was open.
    struct Completion: Equatable {
        /// 0 where nobody lacked it.
        let took: Int64
        /// The index of its kind's figures, as it was opened with.
        let freshness: Int
    }

    /// Serials of the shard's own, whose completion the core does not wait for: far above the core's.
    private static let ownSerials: UInt64 = 1 << 63

    private var open = SerialTable<Open>()
    /// In the order in which they arrived. The first one is open; those behind it may have been closed, no more of them than are open.
    private var arrivals = Queue<(serial: UInt64, at: Int64)>()
    private var ownSerialsGiven: UInt64 = 0

    var count: Int { open.count }
    var isEmpty: Bool { open.isEmpty }

    /// When the publication arrived that has been open longest.
    var oldestArrival: Int64? { arrivals.first?.at }

    mutating func nextOwnSerial() -> UInt64 {
        ownSerialsGiven += 1
        return PublicationTracker.ownSerials + ownSerialsGiven
    }

    /// - Parameters:
    ///   - audiences: that lack it, at least one.
    ///   - freshness: index of its kind's figures.
    mutating func open(_ serial: UInt64, audiences: Int, freshness: Int, at now: Int64) {
        open.insert(Open(audiencesLeft: audiences, arrivedAt: now, freshness: freshness), at: serial)
        arrivals.append((serial, now))
    }

    /// One audience more lacks the publication.
    mutating func addAudience(to serial: UInt64) { open.update(serial) { $0.audiencesLeft += 1 } }

    /// One audience less lacks the publication.
    ///
    /// - Returns: what there is to tell when that was the last one; `nil` for a publication that was overtaken, too.
    mutating func complete(_ serial: UInt64, at now: Int64) -> Completion? {
        let publication = open.update(serial) { publication in
            publication.audiencesLeft -= 1
            return publication
        }
        guard let publication, publication.audiencesLeft == 0 else { return nil }
        open.remove(serial)
        forgetClosed()
        return Completion(took: now - publication.arrivedAt, freshness: publication.freshness)
    }

    /// Nobody asks any more who lacks the publication.
    ///
    /// - Returns: whether it was open.
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
