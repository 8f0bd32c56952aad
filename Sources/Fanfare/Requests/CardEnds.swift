import FanfareLog
import FanfareModel
import FanfareQueues

/// Cards that are over, until their rows are removed. A row outlives its card if a call follows or starts a card under the same id, wherever the call
/// is: on its way to the store, from there to the shard, or taken by the shard. Confined to the core's thread.
///
/// Ids are the bits of activities' ids, tokens are `keyedHash`es.
package struct CardEnds {
    /// Number of calls on their way to the core that follow or start a card, by its id.
    private var calls: [UInt64: Int] = [:]
    /// Cards whose shards were asked whether they are still over. A call that was carried out may reach the shard only after its report.
    private var asked: [UInt64: Question] = [:]
    /// Cards that a shard reported as over during a call for them. The shard is asked once the call has gone there.
    private var deferred: [UInt64: Question] = [:]
    /// Tokens of the cards whose rows are to be removed, by id. `order` also has ids of cards that live on.
    private var over: [UInt64: UInt64] = [:]
    private var order = Queue<UInt64>()
    /// Questions to shards that wait until there is room among `over`.
    private var questions = Queue<Question>()

    /// Question to a shard whether a card is still over.
    struct Question: Equatable {
        let id: UInt64
        let token: UInt64
        let shard: Int
    }

    /// Number of rows to be removed at which no shard is asked. A shard reports few cards before it is asked, and keeps the others.
    static let overMax = 2048

    var count: Int { over.count }
    /// Is `true` if no row waits to be removed, and none may after a shard's answer.
    var isEmpty: Bool { over.isEmpty && asked.isEmpty && deferred.isEmpty && questions.isEmpty }

    /// Notes a call that follows or starts a card.
    ///
    /// - Returns: removal of the former card's row, to be written before the call's row; `nil` without one.
    mutating func noteCall(_ id: UInt64) -> PeopleEntry? {
        calls[id, default: 0] += 1
        return over.removeValue(forKey: id).map { .removed(id, token: $0) }
    }

    /// Notes that the call goes to its shard.
    ///
    /// - Parameter isKept: `true` if the card has the call's row; otherwise the former card's row remains.
    mutating func noteCarriedOut(_ id: UInt64, isKept: Bool) {
        if isKept {
            asked[id] = nil
            // The shard expects a question after each removal that it reports. The answer has no effect.
            if let former = deferred.removeValue(forKey: id) { questions.append(former) }
        }
        guard let count = calls[id] else { return }
        calls[id] = count > 1 ? count - 1 : nil
        if count == 1, let question = deferred.removeValue(forKey: id) { ask(question) }
    }

    private mutating func ask(_ question: Question) {
        asked[question.id] = question
        questions.append(question)
    }

    /// Notes that a shard has removed an activity.
    ///
    /// `nextQuestion` then asks the shard whether the removal holds, and `answer` takes the reply.
    mutating func shardRemoved(_ removed: Question) {
        guard calls[removed.id] != nil else { return ask(removed) }
        // The call comes behind the shard's answer.
        if let former = deferred.updateValue(removed, forKey: removed.id) { questions.append(former) }
    }

    /// Removes and returns the next question to a shard; `nil` without one, or while many rows are to be removed.
    mutating func nextQuestion() -> Question? { over.count < CardEnds.overMax ? questions.popFirst() : nil }

    /// Notes the shard's answer.
    mutating func answer(_ id: UInt64, token: UInt64, isOver: Bool) {
        guard let question = asked[id], question.token == token else { return }
        asked[id] = nil
        if isOver, calls[id] != nil { deferred[id] = question } else if isOver { remove(id, token: token) }
    }

    /// Marks the row of a card that no shard has for removal, unless a call follows or starts the card.
    package mutating func remove(_ id: UInt64, token: UInt64) {
        guard calls[id] == nil else { return }
        if over.updateValue(token, forKey: id) == nil { order.append(id) }
    }

    /// Removes and returns the next row to be removed.
    mutating func popFirst() -> PeopleEntry? {
        while let id = order.popFirst() {
            if let token = over.removeValue(forKey: id) { return .removed(id, token: token) }
        }
        return nil
    }

    /// Describes a row to be removed that waits in no order or has a call, or a question that waits for no call; `nil` if there is none.
    func violation() -> String? {
        let listed = Set(order.elements)
        guard over.keys.allSatisfy({ listed.contains($0) && calls[$0] == nil }) else {
            return "the row of a card is to be removed, and has a call or no place in the order"
        }
        guard calls.values.allSatisfy({ $0 > 0 }), deferred.keys.allSatisfy({ calls[$0] != nil }) else {
            return "a question about a card waits for a call that is not on its way"
        }
        guard asked.allSatisfy({ $0.key == $0.value.id }), deferred.allSatisfy({ $0.key == $0.value.id }) else {
            return "a question is kept under the id of another card"
        }
        return nil
    }
}

extension PeopleEntry {
    /// Bits of the id of the card that lives on by this change; `nil` if the change concerns a card that exists.
    var revivedCard: UInt64? {
        switch self {
        case .follow(let card), .start(let card): card.id.rawValue
        case .move, .replaceToken, .setPreferences, .unfollow, .removed: nil
        }
    }
}
