import FanfareModel

/// One side of a match.
enum Side: String {
    case home, away
    var other: Side { self == .home ? .away : .home }
}

/// Makes the events of one match, in the words that the core's football reducer knows.
struct FootballTopic {
    /// When people begin to see a match: this long before the kick-off.
    static let lead = Duration.seconds(-600)

    let topic: TopicID

    init(matchID: String) { topic = TopicID("match/" + percentEncoded(matchID)) }

    /// Begins the topic. A match whose teams are known and that has no period yet shows as `PRE`.
    func start(home: String, away: String, at: FeedTime) -> FeedEvent {
        let teams = Fact(id: "teams", kind: "teams", at: at, values: ["home": .string(home), "away": .string(away)])
        return FeedEvent(
            topic: topic, topicKind: .football, at: at, id: teams.id, kind: "start", lifecycle: .start,
            change: .fact(teams))
    }

    /// A period that the provider does not announce: the decoder has inferred it.
    func inferred(period: String, at: FeedTime) -> FeedEvent {
        self.period(period, id: "period/\(period)", kind: period == "FT" ? "end" : "period", at: at)
    }

    /// Full time ends the topic.
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

    /// What no scoreboard shows: a pass, a throw-in.
    func raw(_ kind: String, id: String, at: FeedTime) -> FeedEvent {
        FeedEvent(topic: topic, at: at, id: id, kind: kind)
    }

    private func scoreboard(_ kind: String, _ values: JSONObject, id: String, at: FeedTime) -> FeedEvent {
        FeedEvent(
            topic: topic, at: at, id: id, kind: kind, change: .fact(Fact(id: id, kind: kind, at: at, values: values)))
    }
}
