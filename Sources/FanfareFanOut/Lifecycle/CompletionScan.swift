import FanfareModel
import FanfareQueues

/// Finds the followers that lack a topic's version when nearly all others have it. Otherwise one token that fails for good would cost the others a
/// push with each restart.
///
/// One pass for all topics goes over all activities, some in each turn.
final class CompletionScan {
    private let reporter: FeedbackReporter
    private let membership: Membership

    private struct Candidate {
        let index: AudienceIndex
        let audience: Audience
        let tenant: UInt64
        let target: UInt32
        let publication: Publication
        /// Time before which the members that the pass finds have joined.
        let before: FeedTime
        var lacking: [ActivityMark] = []
    }

    private var candidates: [Candidate] = []
    /// `CompletionBook.voids` when the pass began.
    private var voids: UInt32 = 0
    /// Place of each audience among `candidates`, by its index; `none` for others.
    private var places: [UInt32] = []
    private static let none = UInt32.max
    /// Slot at which a pass goes on.
    private var cursor = 0
    private var passesAt: MonotonicTime?

    /// Time between two passes.
    static let interval = Duration.seconds(10)
    /// Activities in a turn: some ten microseconds.
    private static let visitsMax = 1 << 14
    /// Audiences with joiners in a turn, some of which are at rest: some hundred microseconds.
    private static let joinedMax = 1 << 10

    init(_ reporter: FeedbackReporter, _ membership: Membership) {
        self.reporter = reporter
        self.membership = membership
    }

    /// Time for the next call of `run`; `nil` if there is nothing to be found or reported.
    var due: MonotonicTime? {
        guard reporter.completions.isKept else { return nil }
        let reportsAt = reporter.completions.due
        guard candidates.isEmpty, !reporter.completions.hasCaughtUp else { return .always }
        guard let pass = passesAt ?? (reporter.completions.hasUnfinished ? .always : nil) else { return reportsAt }
        return min(reportsAt ?? pass, pass)
    }

    /// Reports to the core the topics whose followers have caught up, and goes on with a pass, or begins one that is due.
    func run(at moment: Moment) {
        guard reporter.completions.isKept else { return }
        noteJoiners()
        if candidates.isEmpty { begin(at: moment.monotonic) }
        visit()
        reporter.reportCompletions(at: moment)
    }

    /// Describes a candidate that a pass would miss, or take for another; `nil` if there is none.
    func violation() -> String? {
        guard candidates.isEmpty == places.isEmpty, cursor <= membership.store.activities.count else {
            return "a pass over \(candidates.count) topics has \(places.count) places, and stands at \(cursor)"
        }
        for (place, candidate) in candidates.enumerated() {
            guard candidate.index.place < places.count, places[candidate.index.place] == UInt32(place),
                candidate.lacking.count <= TopicCompletion.exceptionsMax + 1
            else { return "a pass does not find the members of audience \(candidate.index)" }
        }
        return nil
    }

    /// Notes topics anew whose joiners have the version, so that a restart sends them nothing either.
    private func noteJoiners() {
        for _ in 0..<CompletionScan.joinedMax {
            guard let index = reporter.completions.takeCaughtUp() else { return }
            noteCompletionForJoiners(index)
        }
    }

    /// Notes once more for the core that all followers of a topic have its newest version, if they do, because some of them have joined.
    private func noteCompletionForJoiners(_ index: AudienceIndex) {
        guard membership.audiences[index] !== membership.audiences.vacant,
            membership.audiences[index] !== membership.audiences.resting
        else { return }
        let audience = membership.awake(index)
        audience.completionPlace.isForJoiners = true
        membership.noteCompletion(of: audience)
        membership.rest(index)
    }

    /// Begins a pass, if one is due.
    private func begin(at now: MonotonicTime) {
        guard let due = passesAt else {
            if reporter.completions.hasUnfinished { passesAt = now + CompletionScan.interval }
            return
        }
        guard now >= due else { return }
        passesAt = nil
        begin()
    }

    private func begin() {
        cursor = 0
        voids = reporter.completions.voids
        // An index may occur twice: for a removed audience, and for its successor.
        let unfinished = reporter.completions.takeUnfinished().filter {
            membership.audiences[$0].completionPlace.endUnfinished()
        }
        for index in unfinished {
            let audience = membership.audiences[index]
            guard audience.lineup == nil else { continue }
            let lacking = audience.owed + audience.refused
            guard lacking > 0 else { continue }
            reporter.completions.noteUnfinished(index, &audience.completionPlace)
            guard let before = reporter.completions.before, let publication = membership.completable(audience),
                lacking - audience.starts.count <= TopicCompletion.exceptionsMax,
                // If all members lack the version, a note saves no push, unless other shards have followers.
                lacking < audience.order.count || reporter.completions.notesAbsence
            else { continue }
            candidates.append(
                Candidate(
                    index: index, audience: audience, tenant: audience.tenant, target: audience.target,
                    publication: publication, before: before))
        }
        guard !candidates.isEmpty else { return }
        places = Array(repeating: CompletionScan.none, count: membership.audiences.count)
        for (place, candidate) in candidates.enumerated() { places[candidate.index.place] = UInt32(place) }
    }

    private func visit() {
        guard !candidates.isEmpty else { return }
        let end = min(membership.store.activities.count, cursor + CompletionScan.visitsMax)
        while cursor < end {
            let slot = ActivitySlot(UInt32(cursor))
            cursor += 1
            let index = membership.store[slot].audience.place
            // Newer audiences have only joiners.
            guard index < places.count, places[index] != CompletionScan.none else { continue }
            let place = Int(places[index])
            let (activity, audience) = (membership.store[slot], candidates[place].audience)
            if membership.isOwed(activity, audience) || membership.isRefused(activity, audience),
                candidates[place].lacking.count <= TopicCompletion.exceptionsMax
            {
                candidates[place].lacking.append(membership.claims.mark(of: slot))
            }
        }
        if cursor == membership.store.activities.count { finish() }
    }

    private func finish() {
        for candidate in candidates where voids == reporter.completions.voids {
            let audience = candidate.audience
            // A member that had the version still has it, unless the audience has another version.
            guard audience.tenant == candidate.tenant, membership.audiences[candidate.index] === audience,
                audience.target == candidate.target,
                membership.completable(audience) === candidate.publication
            else { continue }
            reporter.completions.note(
                candidate.publication, before: candidate.before, except: candidate.lacking,
                isForJoiners: audience.completionPlace.isForJoiners)
        }
        candidates = []
        places = []
    }
}
