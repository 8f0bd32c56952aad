/// Answers the core's questions whether all activities have the content sent before the question, whatever is published later.
///
/// Questions are numbered, and the answer to one is an answer to all before it. A survey answers the newest question asked before the
/// survey began; a question asked during a survey is answered by the next. A survey looks once at each audience and activity, some at a time,
/// and notes those that lack content; then it waits until they have it, have newer content, or were refused it for good, which the answer
/// states. Hence nothing is counted without a question, a shard that is never at rest answers, too, the notes of a survey are bounded by
/// the audiences and activities that lacked content, and unanswered questions take no room.
struct Settling {
    /// The newest question that no survey has taken up.
    private var asked: UInt64?
    private var survey: Survey?

    /// The answer to a question: no content sent before it is pending or in flight any more.
    struct Answer {
        let question: UInt64
        /// Is `true` if no newest state was refused for good: each activity has the content sent before the question, or newer content.
        let isComplete: Bool
    }

    /// Is `true` while no question is open.
    var isIdle: Bool { asked == nil && survey == nil }

    mutating func ask(_ question: UInt64) { asked = question }

    /// Answers all questions, because nothing is pending or in flight.
    ///
    /// - Returns: the answer to the newest question.
    mutating func takeAll(isComplete: Bool) -> Answer? {
        defer { self = Settling() }
        return (asked ?? survey?.question).map { Answer(question: $0, isComplete: isComplete) }
    }

    /// The state of a push that is due to an activity for another reason than its audience's version: a joiner's first push, a private end,
    /// or a start.
    enum DuePush {
        case none, pending
        /// The first push of a joiner was refused for good; the activity gets the next version.
        case refused
    }

    /// Advances the survey, and begins the next one.
    ///
    /// - Parameters:
    ///   - unvisited: the news that lineups have not looked at; called when a survey begins.
    ///   - duePush: the state of an activity's push that is due for another reason than its audience's version.
    /// - Returns: the answer to the newest question that has one by now.
    mutating func takeSettled(
        _ audiences: [Audience], _ activities: [Activity], unvisited: () -> UnvisitedNews,
        duePush: (ActivitySlot) -> DuePush
    ) -> Answer? {
        var answer: Answer?
        while !isIdle {
            if survey == nil, let question = asked.take() {
                survey = Survey(
                    question: question, unvisited: unvisited(), audiences: audiences.indices,
                    activities: activities.indices)
            }
            guard survey?.isOver(audiences, activities, duePush: duePush) == true else { break }
            answer = survey.take().map { Answer(question: $0.question, isComplete: $0.isComplete) }
        }
        return answer
    }
}

extension Settling {
    fileprivate struct Survey {
        let question: UInt64
        /// Topics with news that their lineups have not looked at, so that no version of these lineups has them yet.
        private var unvisited: UnvisitedNews
        /// Indices of the audiences still to be looked at. Audiences added later do not belong to the survey.
        private var audiences: Range<Int>
        /// Indices of the activities still to be looked at. Activities added later do not belong to the survey.
        private var activities: Range<Int>
        private var lackingAudiences: [LackingAudience] = []
        private(set) var isComplete = true
        private var lackingActivities: [(slot: ActivitySlot, tenant: UInt32)] = []

        /// An audience with members that lack content.
        private struct LackingAudience {
            let audience: Audience
            /// The `tenant` when the survey looked: an audience that rests afterwards lacks nothing, and its object serves another one.
            let tenant: UInt64
            /// The version that its members are to get: the newest one when the survey looked, or the one with the changes that waited then.
            var version: UInt32
            /// Is `true` while changes of the lineup wait for its next version.
            var awaitsVersion: Bool

            /// Is `true` while the object is still that audience.
            var isThere: Bool { audience.servedTenant == tenant }

            /// Returns whether each member has that version or a newer one, or was refused it.
            mutating func isSettled() -> Bool {
                guard isThere else { return true }
                if awaitsVersion, audience.target > version || !audience.hasDeferredChanges {
                    awaitsVersion = false
                    version = audience.target
                }
                // A version that was refused for good is not sent again.
                return !awaitsVersion && (audience.versions.oldest >= version || audience.owed == 0)
            }
        }

        /// Audiences, and activities, that one call looks at; they take some tenths of a millisecond.
        private static let lookMax = 1 << 16

        init(
            question: UInt64, unvisited: UnvisitedNews, audiences: Range<Int>, activities: Range<Int>
        ) {
            self.question = question
            self.unvisited = unvisited
            self.audiences = audiences
            self.activities = activities
        }

        /// Returns whether the survey has its answer. A call costs a look at `lookMax` audiences and activities, or a check of those that have
        /// settled since the last call.
        mutating func isOver(
            _ audiences: [Audience], _ activities: [Activity], duePush: (ActivitySlot) -> DuePush
        ) -> Bool {
            guard unvisited.isEmpty() else { return false }
            for index in self.audiences.prefix(Survey.lookMax) {
                let audience = audiences[index]
                guard audience.owed + audience.refused > 0 || audience.hasDeferredChanges else { continue }
                lackingAudiences.append(
                    LackingAudience(
                        audience: audience, tenant: audience.servedTenant, version: audience.target,
                        awaitsVersion: audience.hasDeferredChanges))
            }
            self.audiences = self.audiences.dropFirst(Survey.lookMax)
            for index in self.activities.prefix(Survey.lookMax) {
                let slot = ActivitySlot(UInt32(index))
                if duePush(slot) != .none { lackingActivities.append((slot, activities[index].tenant)) }
            }
            self.activities = self.activities.dropFirst(Survey.lookMax)
            guard self.audiences.isEmpty, self.activities.isEmpty else { return false }
            while let last = lackingAudiences.indices.last {
                guard lackingAudiences[last].isSettled() else { return false }
                if lackingAudiences[last].isThere, lackingAudiences[last].audience.refused > 0 { isComplete = false }
                lackingAudiences.removeLast()
            }
            while let (slot, tenant) = lackingActivities.last {
                if activities[Int(slot.rawValue)].tenant == tenant {
                    switch duePush(slot) {
                    case .none: break
                    case .pending: return false
                    case .refused: isComplete = false
                    }
                }
                lackingActivities.removeLast()
            }
            return true
        }
    }
}

extension Audience {
    /// Is `true` while a lineup keeps changes for its next version.
    fileprivate var hasDeferredChanges: Bool { lineup?.deferred.isEmpty == false }
}
