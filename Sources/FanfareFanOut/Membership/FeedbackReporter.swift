import FanfareModel
import FanfareQueues

/// The facts that the shard reports to the core: completed publications, fates of activities, dead tokens and lines for operators. It
/// knows which publications are tracked, and how fresh the pushes are.
final class FeedbackReporter {
    /// Leaving activities whose name already means another activity.
    var surrogates = SurrogateIDs()
    @safe @exclusivity(unchecked) var publications = PublicationTracker()
    @safe @exclusivity(unchecked) var freshness = FreshnessTable()
    @safe @exclusivity(unchecked) var completions = CompletionBook()
    private var feedback: FeedbackQueue
    /// Is `true` if the core is to learn of each activity that is removed.
    var reportsRemovals = false
    private var removed = RemovedActivities()

    init(feedbackMax: Int) { feedback = FeedbackQueue(limit: feedbackMax) }

    /// Is `true` while the core does not take feedback.
    var isFeedbackFull: Bool { feedback.isFull }

    func send(to ring: inout RingProducer<ShardFeedback>) -> Bool { feedback.drain(into: &ring) }

    func drain(_ take: (ShardFeedback) -> Void) { feedback.drain(take) }

    func takeAll() -> [ShardFeedback] {
        reportCompletions(completions.takeAll())
        return feedback.takeAll()
    }

    /// Notes that one audience has this publication, and reports the completion if it was the last.
    func complete(_ serial: UInt64, at moment: Moment) {
        guard let done = publications.complete(serial, at: moment.monotonic) else { return }
        if done.took > 0 { freshness.noteSweep(done.took, of: done.freshness) }
        feedback.append(.completed(serial: serial, at: done.took > 0 ? moment.monotonic : nil))
    }

    /// Ends the tracking of a publication: activities that lack it get a newer one, and its completion is not reported.
    func overtake(_ serial: UInt64) {
        if publications.overtake(serial) { feedback.append(.overtaken(serial: serial)) }
    }

    /// Reports a publication that the command queue dropped for a newer one.
    func reportOvertaken(_ serial: UInt64) { feedback.append(.overtaken(serial: serial)) }

    func reportDead(_ id: ActivityID) { if !surrogates.contains(id) { feedback.append(.deadToken(id)) } }

    /// Reports that an activity is about to be removed. A card that has lost its name to another card has no name in the store either.
    func reportRemoval(of id: ActivityID, token: @autoclosure () -> ArraySlice<UInt8>) {
        guard reportsRemovals, !surrogates.contains(id) else { return }
        removed.append(RemovedActivities.Entry(id: id.rawValue, token: token().keyedHash))
        reportRemoval()
    }

    private func reportRemoval() {
        if let next = removed.next() { feedback.append(.removed(next.id, token: next.token)) }
    }

    /// Reports whether a removed activity is over, and first reports the next removal: a core that has all answers thus has all removals.
    func reportRemovalCheck(of id: ActivityID, token: UInt64, isOver: Bool) {
        removed.noteAsked()
        reportRemoval()
        feedback.append(.removalChecked(id.rawValue, token: token, isOver: isOver))
    }

    func report(_ fate: ActivityFate, of id: ActivityID) {
        if !surrogates.contains(id) { feedback.append(.fate(id, fate)) }
    }

    func answer(_ disposition: AlertDisposition, _ number: UInt64) {
        feedback.append(.disposition(number, disposition))
    }

    /// Reports the answer to the core's question. The figures go before the answer, so that the core has them first.
    func report(_ answer: Settling.Answer, _ figures: ShardCounts) {
        feedback.append(.counted(figures))
        feedback.append(.quiet(answer.question, isComplete: answer.isComplete))
    }

    func request(_ claims: ClaimRequest) { feedback.append(.claims(claims)) }
    func request(stampsThrough ceiling: Int64) { feedback.append(.stampsReach(ceiling)) }

    /// Reports the topics whose followers have caught up, once they have been gathered.
    func reportCompletions(at moment: Moment) {
        if let gathered = completions.take(at: moment.monotonic) { reportCompletions(gathered) }
    }

    private func reportCompletions(_ gathered: [TopicCompletion]) {
        if !gathered.isEmpty { feedback.append(.topicsCompleted(gathered)) }
    }

    /// Reports that phones may lack pushes, if the core keeps completions.
    func reportShowingAgain() {
        completions.void()
        if reportsRemovals { feedback.append(.showsAgain) }
    }

    func report(_ line: String) { feedback.append(.report(line)) }

    func refuse(_ id: ActivityID, _ refusal: CommandRefusal) { report(.refused(refusal), of: id) }

    /// - Parameter places: the places of the audiences' completions, by the audiences' indices.
    func violation(places: [(index: AudienceIndex, place: CompletionPlace)] = []) -> String? {
        feedback.violation() ?? publications.violation() ?? freshness.violation() ?? removed.violation()
            ?? completions.violation(places: places)
    }
}
