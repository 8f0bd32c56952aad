import FanfareFanOut
import FanfareModel

/// Alerts and priorities, by what people want and by what is left of the activities' limits.
extension World {
    /// Is `true` if an update or an end with this stamp may carry the alert.
    private func mayAlert(_ alert: AlertClass, _ phone: Phone, stamp: Int64, isEnd: Bool = false) -> Bool {
        phone.budget.mayAlert(alert, stamp: stamp, isEnd: isEnd, at: nodes[phone.node].clock.moment)
    }

    /// To be called before a pull. After a clock step, a push sent before may not have been taken, so it may be repeated.
    func noteClockStep(of node: Node) {
        guard !node.shard.isFeedbackFull, node.stampEpoch != node.clock.moment.stampEpoch else { return }
        node.stampEpoch = node.clock.moment.stampEpoch
        for index in phones.indices where nodes[phones[index].node] === node {
            phones[index].last.mayRepeat = true
            let isOver = phones[index].served.map { self.isOver($0, for: phones[index], node: node) } ?? true
            if !isOver { phones[index].isOwedWhatItRefused() }
        }
    }

    /// To be called before a pull. A phone that may be given no alert now and has the newest state is settled without a push.
    func noteSettled(by node: Node) {
        let now = moment.monotonic
        for index in phones.indices
        where !phones[index].alerts.missed.isEmpty && nodes[phones[index].node] === node
            && phones[index].last.flying == 0
        {
            guard let highest = phones[index].alerts.stillMissed(at: now).map(\.alert.class).max(),
                phones[index].health.sickness != nil
                    || !mayAlert(
                        highest, phones[index],
                        stamp: max(node.clock.moment.stampMilliseconds / 1000, phones[index].last.stamp))
            else { continue }
            phones[index].alerts.noteSettled()
        }
    }

    /// Checks alert and priority: the newest missed alert of the highest class rides unless preferences or limits forbid it.
    func judgeAttention(of payload: Payload, for phone: Phone, from node: Node) -> String? {
        if phone.naming.isDetached { return nil }
        let isEnd = payload.event == .end
        let missed = phone.alerts.stillMissed(at: moment.monotonic)
        if payload.alert != nil {
            guard let highest = missed.map(\.alert.class).max(),
                mayAlert(highest, phone, stamp: payload.stamp, isEnd: isEnd)
            else {
                return "an alert to somebody who wants none, or has had as many as may be (A2, A5)"
            }
            return nil
        }
        if let highest = missed.filter({ !$0.mayBeSettled }).map(\.alert.class).max(),
            mayAlert(highest, phone, stamp: payload.stamp, isEnd: isEnd)
        {
            return "silent though alert \(missed.last?.alert.text.title ?? "") was missed (4)"
        }
        guard payload.event == .update else { return nil }
        let affords = phone.budget.affordsImmediate(stamp: payload.stamp)
        if payload.priority == .immediate, !affords { return "priority 10 on a spent budget" }
        if case .topic(let topic) = phone.served, payload.priority == .conserving, affords,
            node.topics.newest(topic, for: phone.following)?.priority == .immediate
        {
            return "priority 5 though the budget is not spent"
        }
        return nil
    }
}
