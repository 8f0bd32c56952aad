import FanfareFanOut
import FanfareModel

/// Questions to a node's shard whether all phones have the content published before. The answer may take time, but a phone that lacked
/// content when the shard was asked then has it, is gone, shows another audience, or was refused it for good.
extension World {
    func ask(_ node: Node) {
        node.send(.reportQuiet(node.judges.questions.ask()))
    }

    /// Notes the push that each phone lacks when the question reaches the shard.
    func noteQuestion(_ number: UInt64, to node: Node) {
        var lacks: [Lack] = []
        for (index, phone) in phones.enumerated()
        where nodes[phone.node] === node && phone.naming.isIntroduced && !phone.life.isGone && !phone.life.isExpired {
            guard let thing = thing(lackedBy: phone, of: node) else { continue }
            lacks.append(
                Lack(
                    phone: index, thing: thing, joins: phone.following.joins,
                    refused: histories[index].states.refusedSerial.flatMap {
                        $0 == node.topics.newestSerial(for: phone.following) ? $0 : nil
                    }))
        }
        node.judges.questions.reached(number, lacking: lacks)
    }

    private func thing(lackedBy phone: Phone, of node: Node) -> Lack.Thing? {
        guard phone.hasToken else {
            let isDue = phone.card?.isOut == false && phone.served != nil && node.topics.hasNews(for: phone.following)
            return isDue ? .start : nil
        }
        guard let served = phone.served, !phone.naming.isDetached else { return .end }
        guard node.topics.hasNews(for: phone.following) else { return nil }
        var newest: [TopicID: Publication] = [:]
        for topic in served.topics {
            if case .lineup = served,
                stateJudge(of: node).lineups.isGone(topic) || node.topics.mayBeUnknown.contains(topic)
            {
                continue
            }
            newest[topic] = node.topics.newest(topic, for: phone.following)
        }
        return .state(node.topics.newestSerial(for: phone.following), newest)
    }

    /// Judges the shard's answer that all phones have the content published before this question and before earlier ones.
    ///
    /// - Returns: the fault of the answer; `nil` if it is right.
    func judgeAnswer(to number: UInt64, isComplete: Bool, from node: Node) -> String? {
        if let violation = node.judges.questions.seen(answerTo: number) { return violation }
        let judge = LackJudge(states: stateJudge(of: node))
        for (asked, lacks) in node.judges.questions.takeAnswered() {
            for lack in lacks {
                let (phone, history) = (phones[lack.phone], histories[lack.phone])
                if let wrong = judge.seen(lack, of: phone, after: history, aged: age(of: phone)) {
                    return "activity \(phone.id.rawValue) \(wrong), and question \(asked) is answered"
                }
                if isComplete, judge.isRefused(lack, of: phone, after: history, aged: age(of: phone)) {
                    return "activity \(phone.id.rawValue) was refused what question \(asked) was about, and all have it"
                }
            }
        }
        return nil
    }
}
