import FanfareModel

/// The stamp of an audience's newest version, and the payloads that have been made with it.
///
/// A new stamp drops the payloads: all of them have the stamp, the version and the dates of one moment.
struct StampedPayloads {
    /// Stamp of the last push for all members, the version that it was used for, and the second of the wall clock at that time.
    private(set) var stamp: Int64 = 0
    private var stampedVersion: UInt32 = 0
    private var stampedAt: Int64 = 0
    private var variants: [(Variant, payload: Payload)] = []

    /// The difference between payloads of one version and stamp.
    struct Variant: Equatable {
        /// Version of the leading alert; `additional` has the versions of the other alerts.
        let alert: UInt32?
        let additional: [UInt32]
        let priority: Priority
    }

    /// Maximum number of seconds by which one activity's stamp may advance the shared stamp.
    static let leadMax: Int64 = 60

    /// Age at which a payload is stamped anew. Devices accept stamps one to ten seconds old (spec §3.3, observed).
    static let refreshSeconds: Int64 = 5

    /// Returns the stamp for the next push of a version.
    ///
    /// A stamp says "at this second this was the newest state". No device may get two states with one stamp. An activity that has had
    /// the current stamp therefore raises it by one second, for all activities after it, too; one that has not is served with the
    /// current stamp, however many versions it sees. A version is stamped, and dated, afresh when its payload is `refreshSeconds` old.
    ///
    /// - Parameters:
    ///   - version: the newest.
    ///   - last: greatest stamp that the activity has had with another state, possibly in another audience.
    /// - Returns: `nil` if the activity has to wait for the clock, as in `Stamp.next`.
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

    /// Returns the kept payload of that variant; `nil` if there is none.
    subscript(variant: Variant) -> Payload? {
        for made in variants.indices where variants[made].0 == variant { return variants[made].payload }
        return nil
    }

    /// Keeps a payload for the other members that get the same payload.
    mutating func keep(_ payload: Payload, as variant: Variant) { variants.append((variant, payload)) }

    /// Drops the payloads that carry the alert of that version.
    mutating func drop(alert version: UInt32) {
        variants.removeAll { $0.0.alert == version || $0.0.additional.contains(version) }
    }
}
