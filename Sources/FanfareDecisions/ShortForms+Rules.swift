import FanfareModel

extension Prominence {
    /// Of an alert whose occasion the rules give no relevance: between a player sent off and half-time, or like a goal.
    static func news(with alert: AlertClass) -> Int { alert == .essential ? 100 : 70 }
}
