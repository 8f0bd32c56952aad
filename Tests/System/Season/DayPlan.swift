import FanfareModel

/// Events of the feeds on one day, equal every day but for names. All counts at six in the morning are
/// therefore equal every day, unless something grows.
struct DayPlan {
    enum Kind { case order, trip, match }

    struct Happening {
        /// Milliseconds after midnight.
        let at: Int64
        /// Number of the topic among the day's topics.
        let topic: UInt32
        let step: UInt8
    }

    /// Number of events per topic.
    static let steps = 12
    private static let lastStep = steps - 1
    /// Events in the order of time, from seven in the morning until before midnight.
    let happenings: [Happening]

    /// - Parameter topics: number of topics of the day.
    init(topics: Int, using random: inout SplitMix64) {
        var happenings: [Happening] = []
        happenings.reserveCapacity(topics * DayPlan.steps)
        for topic in 0..<topics {
            // The last card appears before 21:30, and its eight hours end before six.
            var at = Int64.random(in: 7 * SeasonTime.perHour..<20 * SeasonTime.perHour, using: &random)
            for step in 0..<DayPlan.steps {
                happenings.append(Happening(at: at, topic: UInt32(topic), step: UInt8(step)))
                at += Int64.random(in: 60_000..<900_000, using: &random)
            }
        }
        happenings.sort { ($0.at, $0.topic, $0.step) < ($1.at, $1.topic, $1.step) }
        self.happenings = happenings
    }

    static func kind(_ topic: UInt32) -> Kind { topic % 10 < 7 ? .order : topic % 10 < 9 ? .trip : .match }

    /// Returns the topic's id. One in ten is the same every day: it is used again after the topic of the day before was forgotten.
    static func id(day: Int, _ topic: UInt32) -> TopicID {
        switch kind(topic) {
        case .order: TopicID(topic % 10 == 2 && !isEndless(topic) ? "order/desk-\(topic)" : "order/\(day)-\(topic)")
        case .trip: TopicID("trip/\(day)/\(topic)")
        case .match: TopicID("match/\(day)-\(topic)")
        }
    }

    /// Is `true` for one topic in a hundred, which the feed never ends.
    static func isEndless(_ topic: UInt32) -> Bool { (topic / 10 + topic) % 100 == 7 }
    /// Is `true` for one match in two, in which a goal is withdrawn.
    private static func isReviewed(_ topic: UInt32) -> Bool { topic % 20 == 19 }

    static func event(day: Int, _ happening: Happening, at: FeedTime) -> FeedEvent {
        let (topic, step) = (happening.topic, Int(happening.step))
        let isLast = step == lastStep && !isEndless(topic)
        var event = FeedEvent(topic: id(day: day, topic), at: at, id: "e\(step)", kind: "patch")
        if step == 0 { event.lifecycle = .start }
        func fact(_ kind: String, _ values: JSONObject) {
            event.kind = kind
            event.change = .fact(Fact(id: "f\(step)", kind: kind, at: at, values: values))
        }
        switch kind(topic) {
        case .order:
            event.topicKind = .delivery
            let status =
                switch step {
                case 0: "placed"
                case 1..<5: "preparing"
                case 5..<10: "outForDelivery"
                default: isLast ? "delivered" : "arriving"
                }
            event.change = .patch(["status": .string(status), "stopsBefore": .int(Int64(steps - step))])
        case .trip:
            event.topicKind = .transit
            // A train near its last stop has arrived when two polls lack it.
            if step >= lastStep - 1, !isEndless(topic) {
                fact("absent", [:])
            } else {
                let stopsLeft = Int64(max(1, lastStep - 1 - step))
                fact(
                    "position",
                    [
                        "line": "RE 1", "destination": "Aachen", "nextStop": .string("Stop \(step)"),
                        "stopsLeft": .int(stopsLeft), "status": stopsLeft == 1 ? "arriving" : "enRoute",
                    ])
            }
        case .match:
            event.topicKind = .football
            switch step {
            case 0: fact("teams", ["home": "Home", "away": "Away"])
            case 1: fact("period", ["period": "1H"])
            case 6: fact("period", ["period": "HT"])
            case 7: fact("period", ["period": "2H"])
            case 9 where isReviewed(topic):
                event.kind = "videoReview"
                event.change = .retraction(of: "f8")
            case lastStep where isLast:
                fact("period", ["period": "FT"])
                event.lifecycle = .end
            default: fact("goal", ["side": step % 2 == 0 ? "home" : "away", "player": .string("No. \(step)")])
            }
        }
        return event
    }

    /// Is `true` if the event must alert people; written independently of the rules.
    static func alerts(_ happening: Happening) -> Bool {
        let (topic, step) = (happening.topic, Int(happening.step))
        return switch kind(topic) {
        case .order: step == 5 || step == 10 || step == lastStep && !isEndless(topic)
        case .trip: step == 9
        case .match: step != 0 && step != 6 && step != 7
        }
    }
}
