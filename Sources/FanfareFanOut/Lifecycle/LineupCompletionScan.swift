import FanfareModel
import FanfareQueues

/// Finds the topics whose newest versions all lineups show, and the few members whose lineups do not. A restart sends nothing to lineups of which
/// nothing is missing.
///
/// One pass for all topics goes over all activities, some in each turn, so a push of a lineup costs nothing for its completion. A pass waits while
/// pushes that should leave at once do.
final class LineupCompletionScan {
    private let reporter: FeedbackReporter
    private let membership: Membership

    private struct Candidate {
        let topic: TopicIndex
        let publication: Publication
        let reasons: UnnotedTopics.Reasons
        var lacking: [ActivityMark] = []
    }

    /// A note with exceptions, which the next pass does not repeat unless it has changed.
    private struct Note {
        let publication: Publication
        let lacking: [ActivityMark]
        let voids: UInt32
    }

    private var candidates: [Candidate] = []
    /// Place of each topic among `candidates`, by its index; `none` for others. Empty once the pass has been over all activities.
    private var places: [UInt32] = []
    private static let none = UInt32.max
    private var notes: [TopicIndex: Note] = [:]
    /// Time at which the pass began, and `before` and `voids` of the `CompletionBook` then: the members that the pass finds joined before that log
    /// time. `left` is the number of topics, listed by then, that the next passes take up.
    private var began: (at: MonotonicTime, before: FeedTime?, voids: UInt32, left: Int) = (.always, nil, 0, 0)
    /// Slot at which a pass goes on.
    private(set) var cursor = 0
    /// Number of candidates that a pass cannot note, because too many members lack them.
    private var hopeless = 0
    private var passesAt: MonotonicTime?
    /// Hash of the listed topics when all had been looked for last, and of who lacked them, the same of those since then, and number of repeats of
    /// the hash.
    private var finding = (hash: 0, next: 0, repeats: 0)
    /// Is `true` if news of a listed topic were on their way to lineups when this pass, or one before it that left topics to it, began.
    private var areOnTheirWay = false
    /// The time from which on another pass takes little of the thread's time.
    private var freeAt = MonotonicTime.always
    /// The time at which a pass goes on beside urgent pushes; `nil` while it waits for none.
    private var waitsUntil: MonotonicTime?
    /// Time of the last `run`.
    private var now = MonotonicTime.always
    /// Topics of the lineup being examined, kept so that a visit of most lineups allocates nothing.
    private var topicStates: [SpotlightCandidate] = []

    /// Time between two passes for topics that some lineups lack.
    static let interval = Duration.seconds(10)
    /// Time between two passes that find nothing new, at most.
    private static let intervalMax = Duration.seconds(600)
    /// Number of repeats from which on each pass doubles the time until the next one: in two minutes dwells end, and rotations get their pushes.
    private static let repeatsMax = 12
    /// Time between two passes, for each activity: some hundred times as much as a visit takes.
    private static let spacing = Duration.microseconds(10)
    /// Time for which a pass waits for urgent pushes, at most.
    static let patience = Duration.seconds(60)
    /// Topics that a turn notes at the end of a pass.
    private static let notesMax = 1 << 10

    init(_ reporter: FeedbackReporter, _ membership: Membership) {
        self.reporter = reporter
        self.membership = membership
    }

    private var mayBegin: Bool {
        reporter.completions.before != nil && !reporter.completions.isLoading && !reporter.completions.isSuspended
    }

    /// Time for the next call of `run`; `nil` if there is nothing to be found.
    var due: MonotonicTime? {
        guard reporter.completions.isKept else { return nil }
        guard let dismissal = reporter.completions.dismissals.due else { return passDue }
        return passDue.map { min($0, dismissal) } ?? dismissal
    }

    /// Time at which a pass goes on, or begins; `nil` if there is nothing to be found.
    private var passDue: MonotonicTime? {
        guard candidates.isEmpty else { return goesOnAt }
        guard mayBegin, !reporter.completions.unnoted.isEmpty else { return nil }
        guard !reporter.completions.unnoted.hasNews, let passesAt else { return .always }
        return max(passesAt, goesOnAt)
    }

    /// Time at which urgent pushes no longer keep a pass waiting. The turn after the last of them asks anew.
    private var goesOnAt: MonotonicTime { membership.lanes.hasUrgentWork ? waitsUntil ?? .always : .always }

    /// Goes on with a pass, or begins one that is due.
    func run(at moment: Moment) {
        guard reporter.completions.isKept else { return }
        now = moment.monotonic
        listDismissed(most: reporter.completions.limits.topicsMax)
        if candidates.isEmpty {
            guard mayBegin, !reporter.completions.unnoted.isEmpty, isDue(), !isWaiting() else { return }
            begin(most: reporter.completions.limits.topicsMax)
        } else if isWaiting() {
            return
        }
        visit()
    }

    /// Ends the pass, after one more if a topic is to be noted, because the shard ends.
    func finish() {
        guard reporter.completions.isKept else { return }
        listDismissed(most: .max)
        while !candidates.isEmpty { visit() }
        guard mayBegin, !reporter.completions.unnoted.isEmpty else { return }
        // Each pass goes over all activities, so one takes up all topics.
        begin(most: .max)
        while !candidates.isEmpty { visit() }
    }

    /// Describes a candidate that a pass would miss, or take for another; `nil` if there is none.
    func violation() -> String? {
        guard !places.isEmpty else { return nil }
        guard !candidates.isEmpty else { return "a pass over the lineups of no topics has \(places.count) places" }
        for (place, candidate) in candidates.enumerated() {
            guard candidate.topic.place < places.count, places[candidate.topic.place] == UInt32(place),
                candidate.lacking.count <= TopicCompletion.exceptionsMax + 1
            else { return "a pass does not find the lineups of topic \(candidate.topic)" }
        }
        return nil
    }

    /// Lists the topics whose rows are to leave their lineups by now: a lineup that still shows such a row is no longer restorable, and another one may
    /// have become so. What was noted before is void until the next pass: too many lineups may still show the row for a note with exceptions.
    ///
    /// - Parameter topicsMax: maximum number of topics. If more are to leave, `due` has passed.
    private func listDismissed(most topicsMax: Int) {
        var count = 0
        while count < topicsMax, let topic = reporter.completions.dismissals.takeDue(at: now) {
            count += 1
            // Another topic may have the index by now, and the same one may have begun again.
            guard membership.topics.faces[topic.place].goneAt <= now, membership.lineups[topic] != nil else { continue }
            notes[topic] = nil
            if let publication = completable(topic) { reporter.completions.noteVoid(ofLineupsWith: publication) }
            reporter.completions.list(CollectionOfOne(topic))
        }
    }

    /// Returns whether the topic's row was to leave its lineups during the pass, which may have looked at lineups before.
    private func hasLeft(_ topic: TopicIndex) -> Bool {
        let goneAt = membership.topics.faces[topic.place].goneAt
        return began.at < goneAt && goneAt <= now
    }

    /// Returns whether a pass is due. A new version, or joiners, are noted soon; what some lineups lack is looked for less often.
    private func isDue() -> Bool {
        let isNews = reporter.completions.unnoted.takeNews()
        if isNews { finding.repeats = 0 }
        if isNews || passesAt == nil {
            let soon = max(now + CompletionBook.gathering, freeAt)
            passesAt = passesAt.map { min($0, soon) } ?? soon
        }
        return passesAt.map { now >= $0 } ?? false
    }

    /// Returns whether a pass that is due, or under way, waits for urgent pushes.
    private func isWaiting() -> Bool {
        guard membership.lanes.hasUrgentWork else {
            waitsUntil = nil
            return false
        }
        let end = waitsUntil ?? now + LineupCompletionScan.patience
        waitsUntil = end
        return now < end
    }

    /// - Parameter topicsMax: number of topics that the pass takes up, at most.
    private func begin(most topicsMax: Int) {
        (cursor, passesAt, began.at) = (0, nil, now)
        hopeless = 0
        if began.left == 0 {
            (began.left, finding.next) = (reporter.completions.unnoted.count, 0)
            areOnTheirWay = false
        }
        (began.before, began.voids) = (reporter.completions.before, reporter.completions.voids)
        began.left = max(0, began.left - topicsMax)
        _ = reporter.completions.unnoted.takeNews()
        for (topic, reasons) in reporter.completions.unnoted.take(most: topicsMax) {
            guard let publication = completable(topic) else {
                // The topic's next version lists it again.
                notes[topic] = nil
                continue
            }
            guard let lineups = membership.lineups[topic] else {
                notes[topic] = nil
                // Another shard has lineups of the topic, which are complete only together with those of all shards.
                if reasons.contains(.question) { reporter.completions.noteWithoutLineups(publication) }
                continue
            }
            guard lineups.news.isEmpty else {
                areOnTheirWay = true
                listAgain(topic, reasons)
                continue
            }
            let goneAt = membership.topics.faces[topic.place].goneAt
            if goneAt > now, goneAt < .never { reporter.completions.dismissals.note(topic, leavingAt: goneAt) }
            candidates.append(Candidate(topic: topic, publication: publication, reasons: reasons))
        }
        guard !candidates.isEmpty else { return scheduleNext() }
        let last = candidates.map(\.topic.place).max() ?? 0
        places = Array(repeating: LineupCompletionScan.none, count: last + 1)
        for (place, candidate) in candidates.enumerated() { places[candidate.topic.place] = UInt32(place) }
    }

    private func listAgain(_ topic: TopicIndex, _ reasons: UnnotedTopics.Reasons = []) {
        reporter.completions.unnoted.list(topic, for: reasons, isNews: false)
    }

    /// Sets the time of the next pass, for topics that are not noted yet.
    private func scheduleNext() {
        waitsUntil = nil
        // Also the last of several passes ends the search, whether or not it has had candidates.
        if began.left == 0 {
            finding = (finding.next, 0, finding.next == finding.hash ? finding.repeats + 1 : 0)
        }
        let spacing = LineupCompletionScan.spacing * membership.store.activities.count
        freeAt = now + max(CompletionBook.gathering, spacing)
        passesAt =
            reporter.completions.unnoted.isEmpty
            ? nil : areOnTheirWay || began.left > 0 ? freeAt : max(freeAt, now + intervalAfterRepeats)
    }

    /// Lineups that stay as they are, for example behind a token that fails for good, are looked for less and less often.
    private var intervalAfterRepeats: Duration {
        let doublings = min(max(0, finding.repeats - LineupCompletionScan.repeatsMax), 16)
        return min(LineupCompletionScan.interval * (1 << doublings), LineupCompletionScan.intervalMax)
    }

    private func hash(of candidate: Candidate) -> Int {
        var hasher = Hasher()
        hasher.combine(began.voids)
        hasher.combine(candidate.publication.serial)
        hasher.combine(candidate.topic)
        hasher.combine(candidate.lacking)
        return hasher.finalize()
    }

    /// Returns the newest version of a topic; `nil` if a restart publishes none.
    private func completable(_ topic: TopicIndex) -> Publication? {
        let row = membership.topics[topic]
        guard !row.isDetached, !row.isForgotten, let latest = row.latest, latest.topic.birth > 0 else { return nil }
        return latest
    }

    private func visit() {
        guard !candidates.isEmpty else { return }
        guard !places.isEmpty else { return conclude() }
        let end = min(membership.store.activities.count, cursor + reporter.completions.limits.visitsMax)
        while cursor < end, hopeless < candidates.count {
            let slot = ActivitySlot(UInt32(cursor))
            cursor += 1
            let index = membership.store[slot].audience
            guard index != .none, let row = membership.lineupRow(ofAudience: index), !isRestorable(slot, row, index)
            else {
                continue
            }
            except(slot, row)
        }
        if cursor >= membership.store.activities.count || hopeless == candidates.count { conclude() }
    }

    /// Makes the member an exception from its lineup's topics.
    private func except(_ slot: ActivitySlot, _ row: Int) {
        let mark = membership.claims.mark(of: slot)
        for topic in membership.lineups.topicIndices(of: row)
        where topic.place < places.count && places[topic.place] != LineupCompletionScan.none {
            let place = Int(places[topic.place])
            guard candidates[place].lacking.count <= TopicCompletion.exceptionsMax else { continue }
            candidates[place].lacking.append(mark)
            if candidates[place].lacking.count > TopicCompletion.exceptionsMax { hopeless += 1 }
        }
    }

    /// Notes some of the topics, and ends the pass once all are.
    private func conclude() {
        places = []
        for _ in 0..<LineupCompletionScan.notesMax {
            guard let candidate = candidates.popLast() else { break }
            // The sum does not depend on the order in which the topics are listed.
            finding.next &+= hash(of: candidate)
            note(candidate)
        }
        guard candidates.isEmpty else { return }
        scheduleNext()
    }

    private func note(_ candidate: Candidate) {
        let (topic, lacking) = (candidate.topic, candidate.lacking)
        // A member that had the version still has it, unless the topic has another version, or phones have dropped what they had.
        guard let before = began.before, began.voids == reporter.completions.voids,
            completable(topic) === candidate.publication, !hasLeft(topic),
            membership.lineups[topic]?.news.isEmpty == true, lacking.count <= TopicCompletion.exceptionsMax
        else { return listAgain(topic, candidate.reasons) }
        if !lacking.isEmpty { listAgain(topic) }
        if let known = notes[topic], known.publication === candidate.publication, known.lacking == lacking,
            known.voids == began.voids, candidate.reasons.isEmpty
        {
            return
        }
        let isNoted = reporter.completions.note(
            candidate.publication, of: .lineups, before: before, except: lacking,
            isForJoiners: candidate.reasons.contains(.joiners))
        // With fewer absentees, a later pass notes the topic.
        guard isNoted else { return listAgain(topic, candidate.reasons) }
        notes[topic] =
            lacking.isEmpty ? nil : Note(publication: candidate.publication, lacking: lacking, voids: began.voids)
    }

    // MARK: Restorable lineups

    /// Returns whether a restart would show what the member's card shows: the newest versions of all topics, with the spotlight where it rests.
    private func isRestorable(_ slot: ActivitySlot, _ row: Int, _ index: AudienceIndex) -> Bool {
        guard !membership.lineups.hasNews(row) else { return false }
        if membership.lineups.isLone(row) {
            let state = membership.lineups[lone: row]
            guard state.flags.isEmpty, state.number > 0 else { return false }
            let spotlight = state.spotlight == .max ? nil : Int(state.spotlight)
            return restores(spotlight, since: state.publishedAt, hash: state.displayHash, row)
        }
        let (activity, audience) = (membership.store[slot], membership.audiences[index])
        guard let lineup = audience.lineup, audience.target > 0, audience.event == .update, lineup.deferred.isEmpty,
            !lineup.awaitsNews, !lineup.isGathering(at: now)
        else { return false }
        guard !membership.isOwed(activity, audience), !membership.isRefused(activity, audience) else { return false }
        let hash = audience.versions.newestDisplayHash
        return restores(lineup.publishedSpotlight, since: lineup.publishedAt, hash: hash, row)
    }

    /// Returns whether the spotlight is where a rotation begins that knows nothing of earlier news, or a cycle moves it on in any case, and whether
    /// no row is to leave the card.
    ///
    /// - Parameters:
    ///   - publishedAt: time of the version that the card shows; `always` if the lineup was made with it.
    ///   - hash: hash of that version's content.
    private func restores(
        _ spotlight: Int?, since publishedAt: MonotonicTime, hash: UInt64, _ row: Int
    ) -> Bool {
        let rules = membership.lineupRules
        topicStates.removeAll(keepingCapacity: true)
        var (hasLive, hasDismissed) = (false, false)
        for topic in membership.lineups.topicIndices(of: row) {
            let state = membership.topics.faces[topic.place].topic(at: now)
            topicStates.append(state)
            let goneAt = membership.topics.faces[topic.place].goneAt
            if state.life == .live { hasLive = true }
            if publishedAt < goneAt, goneAt <= now { hasDismissed = true }
        }
        // The row of a dismissed topic waits for a push of the rotation. While no topic is live, it stays until the next news.
        guard !hasLive || !hasDismissed || publishedAt == .always && leavesOutDismissed(spotlight, hash, row) else {
            return false
        }
        let rotation = Rotation(rules, pinned: membership.lineups.pinned(of: row), at: now)
        guard rules.round == nil || !rotation.goesRound(topicStates) else { return true }
        return rotation.wanted(topicStates, now: now) == spotlight
    }

    /// Returns whether the version with which a lineup was made shows no dismissed topic: the topics may have been dismissed before or after that
    /// time, which is not known. The caller has filled `topicStates`, and a topic is live.
    private func leavesOutDismissed(_ spotlight: Int?, _ hash: UInt64, _ row: Int) -> Bool {
        guard let spotlight, topicStates[spotlight].life != .gone else { return false }
        // Few lineups come here, after a restart, so the arrays are not kept.
        var (rows, display) = (RowOrder(), LineupJSON.Display())
        rows.sort(topicStates.count) { topicStates[$0].scheduledAt }
        let start = membership.lineups.links(of: row).lowerBound
        for position in rows.positions.lazy.map(Int.init) where topicStates[position].life != .gone {
            if position == spotlight { display.spotlight = display.topics.count }
            let topic = membership.lineups.topic(ofLink: start + position)
            if let shown = membership.topics[topic].inLineups() { display.topics.append(shown) }
        }
        return display.hash == hash
    }
}
