import FanfareModel

/// A side of a match.
enum Side: String {
    case home, away
    var other: Side { self == .home ? .away : .home }
}

/// Creates the events of one match, in the vocabulary of the core's football reducer.
struct FootballTopic {
    /// Offset from the kick-off at which a match becomes visible.
    static let lead = Duration.seconds(-600)

    let topic: TopicID

    init(matchID: String) { topic = TopicID("match/" + percentEncoded(matchID)) }

    /// Returns the event that begins the topic. A match with teams but without a period shows as `PRE`.
    func start(home: String, away: String, at: FeedTime) -> FeedEvent {
        let teams = Fact(id: "teams", kind: "teams", at: at, values: ["home": .string(home), "away": .string(away)])
        return FeedEvent(
            topic: topic, topicKind: .football, at: at, id: teams.id, kind: "start", lifecycle: .start,
            change: .fact(teams))
    }

    /// Returns the event of a period that the decoder has inferred, because the provider does not announce it.
    func inferred(period: String, at: FeedTime) -> FeedEvent {
        self.period(period, id: "period/\(period)", kind: period == "FT" ? "end" : "period", at: at)
    }

    /// Returns the event of a period. Full time ends the topic.
    func period(_ period: String, id: String, kind: String, at: FeedTime) -> FeedEvent {
        FeedEvent(
            topic: topic, at: at, id: id, kind: kind, lifecycle: period == "FT" ? .end : nil,
            change: .fact(Fact(id: id, kind: "period", at: at, values: ["period": .string(period)])))
    }

    func goal(_ side: Side, player: String?, ownGoal: Bool, penalty: Bool, id: String, at: FeedTime) -> FeedEvent {
        var values: JSONObject = ["side": .string(side.rawValue)]
        values["player"] = player.map(JSONValue.string)
        if ownGoal { values["ownGoal"] = true }
        if penalty { values["penalty"] = true }
        return scoreboard("goal", values, id: id, at: at)
    }

    func shootoutKick(_ side: Side, player: String?, scored: Bool, id: String, at: FeedTime) -> FeedEvent {
        var values: JSONObject = ["side": .string(side.rawValue), "scored": .bool(scored)]
        values["player"] = player.map(JSONValue.string)
        return scoreboard("shootoutKick", values, id: id, at: at)
    }

    enum Card: String { case yellow, secondYellow, red }

    func card(_ side: Side, player: String?, _ color: Card, id: String, at: FeedTime) -> FeedEvent {
        var values: JSONObject = ["side": .string(side.rawValue), "color": .string(color.rawValue)]
        values["player"] = player.map(JSONValue.string)
        return scoreboard("card", values, id: id, at: at)
    }

    func substitution(_ side: Side, playerIn: String?, playerOut: String?, id: String, at: FeedTime) -> FeedEvent {
        var values: JSONObject = ["side": .string(side.rawValue)]
        values["playerIn"] = playerIn.map(JSONValue.string)
        values["playerOut"] = playerOut.map(JSONValue.string)
        return scoreboard("substitution", values, id: id, at: at)
    }

    /// Returns an event that no scoreboard shows: a pass, a throw-in.
    func raw(_ kind: String, id: String, at: FeedTime) -> FeedEvent {
        FeedEvent(topic: topic, at: at, id: id, kind: kind)
    }

    private func scoreboard(_ kind: String, _ values: JSONObject, id: String, at: FeedTime) -> FeedEvent {
        FeedEvent(
            topic: topic, at: at, id: id, kind: kind, change: .fact(Fact(id: id, kind: kind, at: at, values: values)))
    }
}
