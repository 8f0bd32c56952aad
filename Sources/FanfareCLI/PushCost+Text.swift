import FanfareDecisions
import FanfareModel
import FanfareReplay

extension PushCost {
    /// Cost as the end of a sentence.
    var text: String {
        "\(bodySize.bytes.grouped) bytes, \(wireSize.bytes.grouped) on the wire; at \(PushCost.roundTrip.milliseconds) ms, with a window of "
            + "\(PushCost.window.bytes.grouped) bytes, a connection takes \(pushesPerSecond().grouped) a second, and "
            + "\(PushCost.connections) take \(pushesPerSecond(connections: PushCost.connections).grouped)"
    }
}

extension Rules {
    /// Costs of pushes by the size of their content state, as comments of a rules file; up to the
    /// largest state that the rules of a kind allow.
    ///
    /// - Parameter kind: topic kind; `nil` for the rules that leave the most room.
    func costs(of kind: TopicKind?) -> String {
        let reserve =
            kind.map { self[$0].content.attributesReserve } ?? TopicRules.Content.attributesReserveRange.lowerBound
        let most = min(limits.stateSizeMax, TopicRules.pushSizeMax - reserve).bytes
        var lines = [
            "# What a content state costs: an update without an alert, where an answer takes "
                + "\(PushCost.roundTrip.milliseconds) ms and a connection's",
            "# window is HTTP/2's first, \(PushCost.window.bytes.grouped) bytes.",
            "#   state bytes    push   on the wire   pushes a second on a connection   on \(PushCost.connections)",
        ]
        for bytes in [128, 256, 512, 1024, 2048].filter({ $0 < most }) + [most] {
            guard let cost = PushCost(stateSize: .bytes(bytes)) else { continue }
            let rate = cost.pushesPerSecond().grouped
            let rates = cost.pushesPerSecond(connections: PushCost.connections).grouped
            lines.append(
                "#   \(bytes.grouped.aligned(to: 11)) \(cost.bodySize.bytes.grouped.aligned(to: 7)) "
                    + "\(cost.wireSize.bytes.grouped.aligned(to: 13)) \(rate.aligned(to: 33)) \(rates.aligned(to: 7))")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    fileprivate func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
