import FanfareModel

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

    /// Advances the survey, and begins the next one.
    ///
    /// - Returns: the answer to the newest question that has one by now.
    mutating func takeSettled(_ shard: some SurveyedShard) -> Answer? {
        var answer: Answer?
        while !isIdle {
            if survey == nil, let question = asked.take() { survey = Survey(question: question, shard) }
            guard survey?.isOver(shard) == true else { break }
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
            /// The tenant of the index when the survey looked. An audience that has rested or is gone lacks nothing.
            let tenant: AudienceTenant
            /// The version that its members are to get: the newest one when the survey looked, or the one with the changes that waited then.
            var version: UInt32
            /// Is `true` while changes of the lineup wait for its next version.
            var awaitsVersion: Bool

            init(_ lack: AudienceLack, at index: AudienceIndex) {
                tenant = AudienceTenant(index: index, number: lack.tenant)
                version = lack.target
                awaitsVersion = lack.hasDeferredChanges
            }

            /// Returns whether each member has that version or a newer one, or was refused it.
            ///
            /// - Parameter lack: what the audience lacks now.
            mutating func isSettled(_ lack: AudienceLack) -> Bool {
                if awaitsVersion, lack.target > version || !lack.hasDeferredChanges {
                    awaitsVersion = false
                    version = lack.target
                }
                // A version that was refused for good is not sent again.
                return !awaitsVersion && (lack.oldest >= version || lack.owed == 0)
            }
        }

        /// Audiences, and activities, that one call looks at; they take some tenths of a millisecond.
        private static let lookMax = 1 << 16

        init(question: UInt64, _ shard: some SurveyedShard) {
            self.question = question
            unvisited = shard.unvisitedNews()
            audiences = 0..<shard.audienceCount
            activities = 0..<shard.activityCount
        }

        /// Returns whether the survey has its answer. A call costs a look at `lookMax` audiences and activities, or a check of those that have
        /// settled since the last call.
        mutating func isOver(_ shard: some SurveyedShard) -> Bool {
            guard unvisited.isEmpty({ shard.hasUnvisitedNews(of: $0, through: $1) }) else { return false }
            for index in audiences.prefix(Survey.lookMax).lazy.map(AudienceIndex.init) {
                guard let lack = shard.lack(of: index) else { continue }
                lackingAudiences.append(LackingAudience(lack, at: index))
            }
            audiences = audiences.dropFirst(Survey.lookMax)
            for index in activities.prefix(Survey.lookMax) {
                let slot = ActivitySlot(UInt32(index))
                if shard.duePush(of: slot) != .none { lackingActivities.append((slot, shard.tenant(of: slot))) }
            }
            activities = activities.dropFirst(Survey.lookMax)
            guard audiences.isEmpty, activities.isEmpty else { return false }
            while let last = lackingAudiences.indices.last {
                let tenant = lackingAudiences[last].tenant
                if let lack = shard.lack(of: tenant.index), lack.tenant == tenant.number {
                    guard lackingAudiences[last].isSettled(lack) else { return false }
                    if lack.refused > 0 { isComplete = false }
                }
                lackingAudiences.removeLast()
            }
            while let (slot, tenant) = lackingActivities.last {
                if shard.tenant(of: slot) == tenant {
                    switch shard.duePush(of: slot) {
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
