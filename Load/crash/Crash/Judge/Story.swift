/// The history of a card for people, beside a violation.
struct Story {
    let history: History
    let record: Record

    private static let linesMax = 40

    func text(_ push: Record.Push) -> String {
        let shown = push.content?.shown.map { "\(history.topics[$0.topic].name) \($0.number)" }.joined(separator: ", ")
        let alerts = push.alerts.map { " alert \(history.topics[$0.topic].name)#\($0.number)" }.joined()
        return
            "\(push.arrival) ms life \(push.life) token \(push.generation) \(push.event) stamp \(push.stamp) \(shown ?? "no state")\(alerts)"
    }

    func lines(of index: Int, around life: Int) -> [String] {
        let card = history.cards[index]
        func place(_ tick: Int?) -> String { tick.map { "\($0)" } ?? "-" }
        var lines = card.shows.map { show in
            "shows \(show.value.map { history.topics[$0].name }.joined(separator: ",")): asked \(show.asked) acknowledged \(place(show.acknowledged)) "
                + "leaving \(place(show.leaving)) left \(place(show.left))"
        }
        lines += card.tokens.map { token in
            "token \(token.value): asked \(token.asked) acknowledged \(place(token.acknowledged)) leaving \(place(token.leaving)) "
                + "left \(place(token.left))"
        }
        if let start = card.start {
            lines.append(
                "start: asked \(start.asked) acknowledged \(place(start.acknowledged)) life \(start.life) uncertain \(place(start.uncertain)) "
                    + "confirmed \(place(start.confirmed?.tick))"
            )
        }
        lines += card.preferences.dropFirst().map { preference in
            "wishes \(preference.wish.rawValue): asked \(preference.asked) acknowledged \(place(preference.acknowledged))"
        }
        if let asked = card.unfollowed {
            lines.append("unfollow: asked \(asked), acknowledged \(card.isUnfollowAcknowledged)")
        }
        for topic in Set(card.shows.flatMap(\.value)).sorted().prefix(4) {
            let known = history.topics[topic]
            let last = known.changes.enumerated().suffix(6).map { number, change in
                "\(number + 1) \(change.kind) asked \(change.asked) acknowledged \(place(change.acknowledged))"
            }
            lines.append("\(known.name): \(last.joined(separator: "; "))")
        }
        for (number, one) in history.lives.enumerated() where abs(number - life) <= 1 {
            lines.append("life \(number): killed at \(place(one.killed)) in \(one.phases)")
        }
        let near = record.pushes[index].filter { abs($0.life - life) <= 1 }
        return lines + near.suffix(Story.linesMax).map(text)
    }
}
