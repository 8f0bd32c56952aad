/// The core's questions whether everybody has what was sent before each of them, whatever comes meanwhile.
///
/// Questions are numbered, and the answer to one is an answer to all before it. A round answers the newest that was asked before
/// the round began; whoever asks while one is under way is answered by the next. It looks once at each audience and activity, some at a
/// time, and notes which of them lack something; then it waits until those have that, or something newer, or were refused it for good,
/// which the answer says. So nothing is counted while nobody asks, a shard that is never at rest answers too, a round holds at most what
/// lacked something when it looked, and questions that nobody can answer take no room.
struct Settling {
    /// The newest one that no round has taken up.
    private var asked: UInt64?
    private var round: Round?

    /// Nothing that was sent before the question is on its way any more.
    struct Answer {
        let question: UInt64
        /// Nobody was refused the newest state for good: everybody has what was sent before, or something newer.
        let isComplete: Bool
    }

    /// Nobody has asked.
    var isIdle: Bool { asked == nil && round == nil }

    mutating func ask(_ question: UInt64) { asked = question }

    /// Nothing is on its way.
    ///
    /// - Returns: the answer to the newest question.
    mutating func takeAll(isComplete: Bool) -> Answer? {
        defer { self = Settling() }
        return (asked ?? round?.question).map { Answer(question: $0, isComplete: isComplete) }
    }

    /// What an activity is owed that no version of its audience tells of: a joiner's first push, an end of its own, a start.
    enum Debt {
        case none, pending
        /// For good: a joiner has nothing, and gets what comes next.
        case refused
    }

    /// - Returns: the answer to the newest question that has one by now.
    mutating func takeSettled(
        _ audiences: [Audience], _ lineups: LineupTable, _ activities: [Activity], debt: (ActivitySlot) -> Debt
    ) -> Answer? {
        var answer: Answer?
        while !isIdle {
            if round == nil, let question = asked.take() {
                round = Round(
                    question: question, unvisited: lineups.unvisited(), audiences: audiences.indices,
                    activities: activities.indices)
            }
            guard round?.isOver(audiences, activities, debt: debt) == true else { break }
            answer = round.take().map { Answer(question: $0.question, isComplete: $0.isComplete) }
        }
        return answer
    }
}

extension Settling {
    fileprivate struct Round {
        let question: UInt64
        /// Lineups that have not looked at what has been published: what they lack is in no version yet.
        private var unvisited: LineupTable.Unvisited
        /// Still to be looked at. Whoever comes later is none of this round's.
        private var audiences: Range<Int>
        private var activities: Range<Int>
        private var open: [Open] = []
        private(set) var isComplete = true
        private var indebted: [(slot: ActivitySlot, tenant: UInt32)] = []

        /// An audience that lacks something.
        private struct Open {
            let audience: Audience
            /// Of a lineup, which it was: one that rests lacks nothing, and the object becomes another's.
            let tenant: UInt64?
            /// The newest one when the round looked, or what waited then has come with.
            var version: UInt32
            /// Its lineup has changes that are in no version yet: the next one has them.
            var awaitsVersion: Bool

            var isThere: Bool { audience.lineup?.tenant == tenant }

            /// Everybody has that version or a newer one, or was refused it.
            mutating func isSettled() -> Bool {
                guard isThere else { return true }
                if awaitsVersion, audience.target > version || !audience.hasChangesWaiting {
                    awaitsVersion = false
                    version = audience.target
                }
                // What was refused for good is not sent again.
                return !awaitsVersion && (audience.ledger.oldest >= version || audience.owed == 0)
            }
        }

        /// Audiences, or activities, looked at together: some tenths of a millisecond.
        private static let lookMax = 1 << 16

        init(
            question: UInt64, unvisited: LineupTable.Unvisited, audiences: Range<Int>, activities: Range<Int>
        ) {
            self.question = question
            self.unvisited = unvisited
            self.audiences = audiences
            self.activities = activities
        }

        /// Each call costs no more than what has settled since the last one, or a look.
        mutating func isOver(
            _ audiences: [Audience], _ activities: [Activity], debt: (ActivitySlot) -> Debt
        ) -> Bool {
            guard unvisited.isEmpty() else { return false }
            for index in self.audiences.prefix(Round.lookMax) {
                let audience = audiences[index]
                guard audience.owed + audience.refused > 0 || audience.hasChangesWaiting else { continue }
                open.append(
                    Open(
                        audience: audience, tenant: audience.lineup?.tenant, version: audience.target,
                        awaitsVersion: audience.hasChangesWaiting))
            }
            self.audiences = self.audiences.dropFirst(Round.lookMax)
            for index in self.activities.prefix(Round.lookMax) {
                let slot = ActivitySlot(UInt32(index))
                if debt(slot) != .none { indebted.append((slot, activities[index].tenant)) }
            }
            self.activities = self.activities.dropFirst(Round.lookMax)
            guard self.audiences.isEmpty, self.activities.isEmpty else { return false }
            while let last = open.indices.last {
                guard open[last].isSettled() else { return false }
                if open[last].isThere, open[last].audience.refused > 0 { isComplete = false }
                open.removeLast()
            }
            while let (slot, tenant) = indebted.last {
                if activities[Int(slot.rawValue)].tenant == tenant {
                    switch debt(slot) {
                    case .none: break
                    case .pending: return false
                    case .refused: isComplete = false
                    }
                }
                indebted.removeLast()
            }
            return true
        }
    }
}

extension Audience {
    /// A lineup keeps them for its next version.
    fileprivate var hasChangesWaiting: Bool { lineup?.waiting.isEmpty == false }
}

extension Shard {
    func reportIfQuiet() {
        guard !settling.isIdle else { return }
        let answer =
            isQuiet
            ? settling.takeAll(isComplete: counts.refused == 0)
            : settling.takeSettled(audiences, lineups, store.activities) { debt(to: $0) }
        if let answer { report(answer) }
    }

    private func debt(to slot: ActivitySlot) -> Settling.Debt {
        let activity = store[slot]
        // Whether a card that was started is there only its token tells, which may never come.
        if activity.flags.contains(.tokenless) {
            let isDue =
                switch starts[slot]?.phase {
                case .due: starts[slot].map { awake($0.audience).target > 0 } ?? false
                case .waiting: true
                case .sent: activity.flags.contains(.inFlight)
                case nil: false
                }
            return isDue ? .pending : .none
        }
        if activity.flags.contains(.leaving) { return .pending }
        guard activity.flags.contains(.owedFirst) else { return .none }
        return isRefused(activity, awake(Int(activity.audience))) ? .refused : .pending
    }
}
