import FanfareFanOut
import FanfareModel

/// What a pull means for phones before it brings anything.
extension World {
    /// Is `true` if an update with this stamp may carry the alert.
    private func mayAlert(_ alert: AlertClass, _ index: Int, stamp: Int64) -> Bool {
        histories[index].budget.mayAlert(
            alert, stamp: stamp, isEnd: false, at: nodes[phones[index].node].clock.moment)
    }

    /// To be called before a pull. After a clock step, a push sent before may not have been taken, so it may be repeated.
    func noteClockStep(of node: Node) {
        guard !node.shard.isFeedbackFull, node.stampEpoch != node.clock.moment.stampEpoch else { return }
        node.stampEpoch = node.clock.moment.stampEpoch
        for index in phones.indices where nodes[phones[index].node] === node {
            histories[index].last.mayRepeat = true
            let isOver = phones[index].served.map { node.topics.isOver($0, for: phones[index].following) } ?? true
            if !isOver { histories[index].isOwedWhatItRefused() }
        }
    }

    /// To be called before a pull. A phone that may be given no alert now and has the newest state is settled without a push.
    func noteSettled(by node: Node) {
        let now = moment.monotonic
        for index in phones.indices
        where !histories[index].alerts.missed.isEmpty && nodes[phones[index].node] === node
            && histories[index].last.flying == 0
        {
            guard let highest = histories[index].alerts.stillMissed(at: now).map(\.alert.class).max(),
                histories[index].health.sickness != nil
                    || !mayAlert(
                        highest, index,
                        stamp: max(node.clock.moment.stampMilliseconds / 1000, histories[index].last.stamp))
            else { continue }
            histories[index].alerts.noteSettled()
        }
    }
}
