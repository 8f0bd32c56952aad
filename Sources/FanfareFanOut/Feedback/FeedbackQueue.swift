import FanfareQueues

/// Facts for the core, the oldest first, that wait for room in the feedback ring.
///
/// The queue accepts facts beyond its limit; its owner does no work that produces more while it is full.
struct FeedbackQueue {
    private let limit: Int
    private var facts: [ShardFeedback] = []

    init(limit: Int) { self.limit = limit }

    var isFull: Bool { facts.count >= limit }

    mutating func append(_ fact: ShardFeedback) { facts.append(fact) }

    /// Moves the oldest facts into the ring, as far as there is room.
    ///
    /// - Returns: whether any fact was moved.
    mutating func drain(into ring: inout RingProducer<ShardFeedback>) -> Bool {
        let sent = facts.isEmpty ? 0 : ring.push(facts.span)
        facts.removeFirst(sent)
        return sent > 0
    }

    /// Removes all facts, and calls the closure with each, the oldest first. The closure must not append any.
    mutating func drain(_ take: (ShardFeedback) -> Void) {
        for fact in facts { take(fact) }
        facts.removeAll(keepingCapacity: true)
    }

    mutating func takeAll() -> [ShardFeedback] {
        defer { facts = [] }
        return facts
    }

    /// Checks that each publication completes once and each question is answered once.
    func violation() -> String? {
        var (publications, questions): (Set<UInt64>, Set<UInt64>) = ([], [])
        for fact in facts {
            switch fact {
            case .completed(let serial, _), .overtaken(let serial):
                guard publications.insert(serial).inserted else { return "publication \(serial) is reported twice" }
            case .disposition(let question, _):
                guard questions.insert(question).inserted else { return "question \(question) is answered twice" }
            default: break
            }
        }
        return nil
    }
}
