import FanfareModel

/// The activities that receive the same payload, the version they are being brought to, and how far the sweep has come.
///
/// Publishing touches nothing but this object: O(1), whatever its size. Confined to its shard's thread.
final class Audience {
    /// Indices into the shard's topics; one for a topic's followers, several for a lineup.
    @exclusivity(unchecked) var topics: [Int]
    /// `nil` for a topic's followers.
    let lineup: Lineup?

    // Unchecked for the reason given in `Shard`.
    @exclusivity(unchecked) var order = SweepOrder()
    /// The newest version; 0 before the first. A lineup counts versions of its own, one for each change of a topic in it.
    @exclusivity(unchecked) private(set) var target: UInt32 = 0
    @exclusivity(unchecked) private(set) var event = Publication.Event.update
    /// Who has been served with an older version has not seen what it shows, though it may have been sent it.
    @exclusivity(unchecked) private(set) var shownAgainFrom: UInt32 = 0
    /// Whose dates the newest version has: the publication that made it, or that of a lineup's spotlight.
    @exclusivity(unchecked) private(set) var latest: Publication?
    @exclusivity(unchecked) private(set) var priority: Priority
    @exclusivity(unchecked) var ledger = VersionLedger()
    /// Publications whose version not everybody has yet, oldest first: what `completed` feedback speaks of.
    @exclusivity(unchecked) private(set) var opened: [(version: UInt32, serial: UInt64)] = []
    private let openMax: Int
    /// Members that need a visit although the cursor has passed them; each has its `queued` flag set.
    @exclusivity(unchecked) private(set) var again = VisitQueue()
    /// Those of them that have strikes: behind everybody else.
    @exclusivity(unchecked) private(set) var later = VisitQueue()
    /// Activities that are to be started and are no members yet, and behind everybody else those that have strikes. Each knows its
    /// place by the store's `positions`.
    @exclusivity(unchecked) private(set) var starts = WaitingLine()
    @exclusivity(unchecked) private(set) var lateStarts = WaitingLine()
    /// Visits of others for which the first of those has waited.
    @exclusivity(unchecked) private var passedOver = 0
    /// Members that are owed a push, and starts, once there is something to show; and members that were refused the newest version for
    /// good, so that only a newer one can help them. `Shard.count` changes them, for the shard too.
    @exclusivity(unchecked) var owed = 0
    @exclusivity(unchecked) var refused = 0
    /// Who needs this audience without being a member: `Shard.expect`.
    var expected = 0
    /// Unvisited members before which an alert has not come yet: while there are any, the sweep runs in the first lane.
    @exclusivity(unchecked) private var urgent = 0
    /// The same for those in `again`. May count a few who have left meanwhile; an empty list counts none.
    @exclusivity(unchecked) private var urgentAgain = 0

    @exclusivity(unchecked) private(set) var alerts: [PendingAlert] = []
    /// Versions of alerts that have made room for newer ones, in the order in which they did.
    private var displaced: [UInt32] = []
    /// Of each class.
    private var alertsSeen = SIMD2<UInt32>()
    /// Version of the newest alert: who has had its chance at that one needs no look at the others.
    @exclusivity(unchecked) private(set) var newestAlert: UInt32 = 0
    /// Stamp of the last push for all members, the version it was used for, and the second of the wall clock at which it was.
    @exclusivity(unchecked) private var stamp: Int64 = 0
    @exclusivity(unchecked) private var stampedVersion: UInt32 = 0
    @exclusivity(unchecked) private var stampedAt: Int64 = 0
    /// Variants of the stamped version.
    @exclusivity(unchecked) private var variants: [(Variant, payload: Payload)] = []

    /// Where its shard keeps the figures of this audience's kind.
    @exclusivity(unchecked) private(set) var freshness = 0
    /// Monotonic nanoseconds at which the newest version arrived.
    @exclusivity(unchecked) private(set) var publishedAt: Int64 = 0
    /// The same of the oldest version since the last push left; `nil` once one has.
    @exclusivity(unchecked) private var waitingSince: Int64?

    // Owned by `Lanes`: where this audience is served, in which queues it has an entry, and what it may still send this turn.
    @exclusivity(unchecked) var lane: Int?
    @exclusivity(unchecked) var standsIn = Lanes.Places()
    @exclusivity(unchecked) var deficit = 0
    /// Ends the time for which it is out of all of them; `nil`: it is not.
    @exclusivity(unchecked) var parked: TimingWheel.Entry?

    /// What tells apart the payloads of one version and stamp.
    struct Variant: Equatable {
        /// Version of the alert it tells of, and of those beside that.
        let alert: UInt32?
        let beside: [UInt32]
        let priority: Priority
    }

    /// Alerts of each class kept for those who missed them. A person who missed more than this many has no use for the oldest; but
    /// no number of ordinary ones makes up for an essential one.
    static let alertsMax = 8
    /// An activity lasts eight hours: an alert every half minute.
    private static let displacedMax = 1024

    /// - Parameter openMax: publications whose completion is told apart.
    init(topics: [Int], lineup: Lineup? = nil, openMax: Int, priority: Priority = .conserving) {
        self.openMax = openMax
        self.priority = priority
        self.topics = topics
        self.lineup = lineup
    }

    // MARK: Publishing

    struct Version {
        let event: Publication.Event
        let priority: Priority
        let latest: Publication
        /// Hash of what it shows.
        let display: UInt64
    }

    /// A new version for everybody; they are all owed it from here on. O(1).
    ///
    /// - Parameters:
    ///   - publication: what brings the alert, if any.
    ///   - freshness: where the shard keeps its kind's figures.
    func publish(_ version: Version, alerting publication: Publication?, freshness: Int, at moment: Moment) {
        take(version)
        self.freshness = freshness
        publishedAt = moment.monotonicNanoseconds
        if waitingSince == nil, order.count > 0 { waitingSince = publishedAt }
        owed = order.count + starts.count + lateStarts.count
        refused = 0
        order.restart()
        if let publication, let alert = publication.alert {
            if alerts.count(where: { $0.alert.class == alert.class }) == Audience.alertsMax,
                let oldest = alerts.firstIndex(where: { $0.alert.class == alert.class })
            {
                displace(oldest)
            }
            let place = UInt32(alert.class.rawValue)
            alertsSeen[Int(place)] &+= 1
            alerts.append(
                PendingAlert(
                    version: target, number: alertsSeen[Int(place)] &* 2 &+ place, topic: publication.topicID,
                    alert: alert, freshUntil: moment.monotonicNanoseconds + alert.freshFor.milliseconds * 1_000_000))
            newestAlert = target
            urgent = order.count
        }
    }

    /// The alert makes room for a newer one. Nobody can be told of it any more; for the figures its version is kept while somebody
    /// may have missed it.
    private func displace(_ index: Int) {
        displaced.removeAll { $0 <= ledger.oldest }
        if displaced.count == Audience.displacedMax { displaced.removeFirst() }
        displaced.append(alerts.remove(at: index).version)
    }

    /// The newest version once more, as a version of its own, for members who have been sent it already, too.
    func versionAgain() -> Version? {
        guard let latest, event == .update else { return nil }
        shownAgainFrom = target + 1
        return Version(event: event, priority: priority, latest: latest, display: ledger.newestDisplay)
    }

    /// The newest version carries the changes of this publication. Those of one version come oldest first.
    ///
    /// - Returns: the publication that it overtakes when too many are open: the one before. Whoever lacks that gets this version
    ///   instead, and the oldest, for which people have waited longest, stay.
    func open(_ serial: UInt64) -> UInt64? {
        let overtaken = opened.count == openMax ? opened.removeLast().serial : nil
        opened.append((target, serial))
        return overtaken
    }

    /// The first version of an audience made after its topics were published: there is nobody yet who could lack it.
    func adopt(_ version: Version) { take(version) }

    private func take(_ version: Version) {
        target += 1
        event = version.event
        priority = version.priority
        latest = version.latest
        ledger.open(target, display: version.display)
    }

    /// Whether an alert that says the same of the same cause has come already: one fact may be in two topics of a lineup. Facts of
    /// different topics may have one id, but then not the same words.
    func hasAlert(of publication: Publication) -> Bool {
        alerts.contains { $0.alert.cause == publication.alert?.cause && $0.alert.text == publication.alert?.text }
    }

    /// The alert rides no more. Variants that carry it go with it.
    func revokeAlert(cause: String, topic: TopicID) {
        for index in alerts.indices where alerts[index].alert.cause == cause && alerts[index].topic == topic {
            alerts[index].isRevoked = true
            let version = alerts[index].version
            variants.removeAll { $0.0.alert == version || $0.0.beside.contains(version) }
        }
    }

    /// The oldest publication whose version the last member has reached, or passed, by now.
    func takeCompleted() -> UInt64? {
        guard let first = opened.first, first.version <= ledger.oldest else { return nil }
        opened.removeFirst()
        return first.serial
    }

    /// Since when a push of this audience has been due, once: for the first of them.
    func takeWaiting() -> Int64? {
        guard waitingSince != nil else { return nil }
        return waitingSince.take()
    }

    // MARK: The sweep

    var hasWork: Bool { hasFreshWork || !later.isEmpty || target > 0 && !lateStarts.isEmpty }

    private var hasFreshWork: Bool { order.remaining > 0 || !again.isEmpty || hasStarts }

    /// Starts, ends and alerts before priority 10 before priority 5 before those that have strikes.
    var preferredLane: Int {
        guard hasFreshWork else { return Lanes.lastLane }
        if event == .end || awaitsAlert || hasStarts { return 0 }
        return priority == .immediate ? 1 : 2
    }

    private var hasStarts: Bool { target > 0 && !starts.isEmpty }
    /// An alert has not come to some member yet; now and then also said of one to which it has, out of turn.
    private var awaitsAlert: Bool { min(urgent, order.remaining) > 0 || min(urgentAgain, again.count) > 0 }

    /// Who awaits an alert goes before who awaits a card. A start that has failed goes behind all others, but for a small share of the
    /// visits: the sweep of an audience that is large and busy never ends.
    var nextStart: ActivitySlot? {
        guard target > 0 else { return nil }
        guard hasFreshWork else { return lateStarts.first }
        if awaitsAlert { return nil }
        return passedOver >= Audience.visitsPerLateStart ? lateStarts.first ?? starts.first : starts.first
    }

    private static let visitsPerLateStart = 64

    /// So many visits have been made, of whomever.
    func noteVisits(_ count: Int) { if !lateStarts.isEmpty { passedOver += count } }

    /// - Parameter isLate: it has strikes.
    func addStart(_ slot: ActivitySlot, isLate: Bool, positions: inout [UInt32]) {
        if isLate {
            lateStarts.append(slot, positions: &positions)
        } else {
            starts.append(slot, positions: &positions)
        }
    }

    func removeStart(at position: Int, isLate: Bool, positions: inout [UInt32]) {
        if isLate {
            passedOver = 0
            lateStarts.remove(at: position, positions: &positions)
        } else {
            starts.remove(at: position, positions: &positions)
        }
    }

    /// A member is to be visited although the cursor has passed it.
    ///
    /// - Parameters:
    ///   - isUrgent: an alert has not come to it yet.
    ///   - isLate: it has strikes.
    func comeAgain(_ slot: ActivitySlot, isUrgent: Bool, isLate: Bool) {
        guard !isLate else {
            later.append(slot)
            return
        }
        again.append(slot)
        if isUrgent { urgentAgain += 1 }
    }

    /// That visit, or `nil` when there is none left, or when others go first. `isUrgent` tells it of the member when it was queued,
    /// or was since.
    func nextAgain(isUrgent: (ActivitySlot) -> Bool) -> ActivitySlot? {
        guard let slot = again.popFirst() else { return order.remaining > 0 ? nil : later.popFirst() }
        urgentAgain = again.isEmpty ? 0 : max(0, urgentAgain - (isUrgent(slot) ? 1 : 0))
        return slot
    }

    /// A member that was to be visited apart from the sweep has left.
    func abandonVisit(isWanted: (ActivitySlot) -> Bool) {
        again.abandon(isWanted: isWanted)
        later.abandon(isWanted: isWanted)
    }

    /// The next members under the cursor, at most `limit`, and no more than can be visited in one lane.
    func nextOfSweep(limit: Int) -> ArraySlice<ActivitySlot> {
        order.next(limit: urgent > 0 ? min(urgent, limit) : limit)
    }

    /// So many of them have been visited.
    func visited(_ count: Int) {
        urgent -= min(urgent, count)
        order.advance(by: count)
    }

    // MARK: What a member gets

    /// Alerts that came after those at which somebody has had its chance, carried or not.
    func alerts(after alerted: UInt32) -> ArraySlice<PendingAlert> {
        guard newestAlert > alerted else { return [] }
        return alerts[(alerts.firstIndex { $0.version > alerted } ?? alerts.endIndex)...]
    }

    /// Of those that were to be had up to a version, how many have made room for newer ones.
    func displacedAlerts(after alerted: UInt32, through version: UInt32) -> Int {
        displaced.isEmpty ? 0 : displaced.count { $0 > alerted && $0 <= version }
    }

    /// A stamp says "at this second this was the newest state". No device may see two states with one stamp, so whoever has had
    /// the current second gets the next one, and everybody after it too; who has not is served in this second, however many
    /// versions it sees. The same version is stamped, and dated, afresh when its payload is `refreshSeconds` old.
    ///
    /// - Parameter last: greatest stamp that the activity has had with another state; it may have brought it along.
    /// - Returns: `nil` where the activity has to wait for the clock: `Stamp.next`.
    func stamp(after last: Int64, at moment: Moment) -> Int64? {
        let wall = moment.stampSecond
        let isFresh = wall >= stampedAt && wall < stampedAt + Audience.refreshSeconds
        if stampedVersion != target || stamp <= last || !isFresh {
            guard let next = Stamp.next(after: last, shared: stamp, at: moment) else { return nil }
            stamp = next
            stampedAt = wall
            stampedVersion = target
            variants.removeAll()
        }
        return stamp
    }

    /// The payload of the newest version with its stamp: made once for all who get this variant. Where nobody else does it is not
    /// kept: most lineups have one member, and a payload is larger than all else that is known of them.
    func payload(_ variant: Variant, make: () -> Payload) -> Payload {
        for made in variants.indices where variants[made].0 == variant { return variants[made].payload }
        let payload = make()
        if order.count > 1 { variants.append((variant, payload)) }
        return payload
    }

    /// One to ten seconds of age are fine on devices (spec §3.3, observed).
    static let refreshSeconds: Int64 = 5
}
