import FanfareModel

extension Prominence {
    /// Returns the weight of an alert whose occasion has no relevance in the rules: like a goal if essential, else between a
    /// sending-off and half-time.
    static func occasionWeight(with alert: AlertClass) -> Int { alert == .essential ? 100 : 70 }
}
