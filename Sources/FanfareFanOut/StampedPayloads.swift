import FanfareModel

/// The stamp of an audience's newest version, and the payloads that have been made with it.
///
/// Whatever stamps anew drops the payloads: all of them have the stamp, the version and the dates of one moment.
struct StampedPayloads {
    /// Stamp of the last push for all members, the version it was used for, and the second of the wall clock at which it was.
    private var stamp: Int64 = 0
    private var stampedVersion: UInt32 = 0
    private var stampedAt: Int64 = 0
    private var variants: [(Variant, payload: Payload)] = []

    /// What tells apart the payloads of one version and stamp.
    struct Variant: Equatable {
        /// Version of the alert it tells of, and of those beside that.
        let alert: UInt32?
        let beside: [UInt32]
        let priority: Priority
    }

    /// One to ten seconds of age are fine on devices (spec §3.3, observed).
    static let refreshSeconds: Int64 = 5

    /// A stamp says "at this second this was the newest state". No device may see two states with one stamp, so whoever has had
    /// the current second gets the next one, and everybody after it too; who has not is served in this second, however many
    /// versions it sees. The same version is stamped, and dated, afresh when its payload is `refreshSeconds` old.
    ///
    /// - Parameters:
    ///   - version: the newest.
    ///   - last: greatest stamp that the activity has had with another state; it may have brought it along.
    /// - Returns: `nil` where the activity has to wait for the clock: `Stamp.next`.
    mutating func stamp(_ version: UInt32, after last: Int64, at moment: Moment) -> Int64? {
        let wall = moment.stampSecond
        let isFresh = wall >= stampedAt && wall < stampedAt + StampedPayloads.refreshSeconds
        if stampedVersion != version || stamp <= last || !isFresh {
            guard let next = Stamp.next(after: last, shared: stamp, at: moment) else { return nil }
            stamp = next
            stampedAt = wall
            stampedVersion = version
            variants.removeAll()
        }
        return stamp
    }

    /// The payload of that variant, where it has been kept.
    subscript(variant: Variant) -> Payload? {
        for made in variants.indices where variants[made].0 == variant { return variants[made].payload }
        return nil
    }

    /// Others are to get the same.
    mutating func keep(_ payload: Payload, as variant: Variant) { variants.append((variant, payload)) }

    /// Nobody is to be told of the alert of that version any more.
    mutating func drop(alert version: UInt32) {
        variants.removeAll { $0.0.alert == version || $0.0.beside.contains(version) }
    }
}
