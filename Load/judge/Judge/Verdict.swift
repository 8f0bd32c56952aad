package import LoadJSON

/// A broken promise, by its name in the verdict.
package enum Violation: String, CaseIterable, Sendable {
    /// The last accepted state of a live token is not what its topic published last.
    case stale
    /// A live token that was tried and never accepted anything.
    case neverReached
    /// An equal state twice in a row, although the sender had an answer to the first.
    case repeated
    /// A stamp lower than the one before.
    case stampBack
    /// A different state under the same stamp: a phone may ignore it.
    case stampNotRaised
    /// One alert twice for one token.
    case alertTwice
    /// A push after an accepted end.
    case afterEnd
    /// The topic has ended and the token never accepted an end.
    case endMissing
    /// States of several topics (or of more topics than the lineup has) for one token.
    case mixedTopics
    /// A state that belongs to no topic, or a lineup that is none.
    case unknownState
    /// More starts for a device than it has activities.
    case startTwice
    /// A push to a start token that is not a start.
    case startMixed
    /// A number of tokens other than expected.
    case tokenCount
    /// Fewer distinct states than expected, accepted by the median token.
    case fewStates
    /// The simulator could not record everything, or the dump ends early.
    case incompleteDump
}

/// The judge's result.
package struct Verdict: Sendable {
    /// Most examples kept per violation.
    static let examplesMax = 5

    package struct Example: Sendable, Equatable {
        package let violation: Violation
        /// Name of the token in the dump; empty for a violation of the whole run.
        package let token: String
        package let detail: String
    }

    package internal(set) var topics = 0
    /// Topics per lineup; `nil` if each token follows one topic.
    package internal(set) var lineups: Int?
    package internal(set) var liveTokens = 0
    package internal(set) var deadTokens = 0
    /// Start tokens that accepted something; `starts` counts the starts.
    package internal(set) var startTokens = 0
    package internal(set) var starts = 0
    package internal(set) var accepted = 0
    /// Accepted pushes whose answer never left.
    package internal(set) var unanswered = 0
    package internal(set) var alerts = 0
    /// States equal to the one before after an unanswered push: allowed, and never more than `unanswered`.
    package internal(set) var allowedRepeats = 0
    /// States equal to the one before while other tokens were shown another one in between: a state lost before the server read it looks
    /// like that. Never more than the sender counts as uncertain.
    package internal(set) var repeatsOfReturned = 0
    /// Least, median and most distinct states that a live token accepted.
    package internal(set) var distinctStates = (least: 0, median: 0, most: 0)
    package private(set) var violations: [Violation: Int] = [:]
    package private(set) var examples: [Example] = []

    package var isGood: Bool { violations.isEmpty }

    mutating func add(_ violation: Violation, token: String, _ detail: @autoclosure () -> String) {
        violations[violation, default: 0] += 1
        if violations[violation, default: 0] <= Verdict.examplesMax {
            examples.append(Example(violation: violation, token: token, detail: detail()))
        }
    }

    package var json: JSON {
        let counts = Violation.allCases.map {
            JSON.Object.Member(key: $0.rawValue, value: .int(Int64(violations[$0] ?? 0)))
        }
        return [
            "good": .bool(isGood), "topics": .int(Int64(topics)), "lineups": lineups.map { .int(Int64($0)) } ?? .null,
            "tokens": [
                "live": .int(Int64(liveTokens)), "dead": .int(Int64(deadTokens)), "start": .int(Int64(startTokens)),
            ],
            "starts": .int(Int64(starts)),
            "accepted": .int(Int64(accepted)), "unanswered": .int(Int64(unanswered)),
            "allowedRepeats": .int(Int64(allowedRepeats)), "repeatsOfReturned": .int(Int64(repeatsOfReturned)),
            "alerts": .int(Int64(alerts)),
            "distinctStates": [
                "least": .int(Int64(distinctStates.least)), "median": .int(Int64(distinctStates.median)),
                "most": .int(Int64(distinctStates.most)),
            ],
            // The cases' names are distinct, so no key occurs twice.
            "violations": JSON.Object(counts).map(JSON.object) ?? .null,
            "examples": .array(
                examples.map {
                    [
                        "violation": .string($0.violation.rawValue), "token": .string($0.token),
                        "detail": .string($0.detail),
                    ]
                }),
        ]
    }
}
