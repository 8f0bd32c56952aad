import FanfareModel

/// Football feeds with all possible faults, more often than any real feed.
struct RandomFeed {
    private var random: SplitMix64
    /// The events in the order in which they happened, each with its time of arrival at the engine.
    private(set) var arrivals: [(event: FeedEvent, now: FeedTime)] = []

    /// - Parameter spreadSeconds: the time within which everything happens; a small one means bursts.
    init(seed: UInt64, topics: Int = 2, eventsPerTopic: Int = 24, ends: Bool = true) {
        random = SplitMix64(seed: seed)
        let spreadSeconds = random.element(of: [5, 60, 6000])
        for topic in 0..<topics {
            let feed = FootballFeed(topic: TopicID("match/\(topic)"))
            var events = [feed.start(-600, home: "H\(topic)", away: "A\(topic)")]
            var facts: [String] = []
            for number in 0..<eventsPerTopic {
                let time = Double(random.number(below: spreadSeconds * 10)) / 10
                let side = random.element(of: ["home", "away"])
                let id = "e\(number)"
                switch random.number(below: 12) {
                case 0...2: events.append(feed.goal(time, id, side, player: "P\(number)"))
                case 3: events.append(feed.card(time, id, random.element(of: ["yellow", "secondYellow", "red"]), side))
                case 4: events.append(feed.kick(time, id, side, scored: random.chance(70)))
                case 5: events.append(feed.substitution(time, id, side))
                case 6:
                    let period = random.element(of: ["PRE", "1H", "HT", "2H", "PEN", "FT", "SUSP"])
                    events.append(feed.fact(time, "period", id, ["period": .string(period)]))
                case 7: events.append(feed.pass(time, id))
                case 8: events.append(feed.fact(time, "goal", id, ["side": "nowhere"]))
                case 9:
                    events.append(feed.event(time, "patch", id: id, seq: UInt64(random.number(below: 6)), .patch([:])))
                default:
                    // Withdraws an earlier fact, or one that never comes; the withdrawal is sometimes dated like the fact itself.
                    let target = random.chance(80) && !facts.isEmpty ? random.element(of: facts) : "ghost\(number)"
                    events.append(feed.cancel(time, target, id: random.chance(50) ? target : "d\(number)"))
                    facts.removeAll { $0 == target }
                    continue
                }
                if case .fact(let fact)? = events.last?.change, fact.values["side"] != "nowhere" { facts.append(id) }
            }
            if ends, random.chance(50) { events.append(feed.end(Double(spreadSeconds) * 0.9)) }
            for event in events {
                // Most events arrive when they happen, some late, some much later.
                let delay = random.chance(70) ? 0 : Double(random.number(below: spreadSeconds))
                arrivals.append((event, event.at + .milliseconds(Int64(delay * 1000))))
                if random.chance(10) { arrivals.append((event, event.at + .milliseconds(Int64(delay * 1000) + 700))) }
            }
        }
        // Each topic's start is first; the rest comes by arrival, equal moments in a random order.
        random.shuffle(&arrivals)
        arrivals.sort { $0.now < $1.now }
    }

    /// Returns the events of each topic's feed in another order; every start remains first.
    mutating func shuffled() -> [FeedEvent] {
        var events = arrivals.map(\.event)
        random.shuffle(&events)
        return events.filter { $0.lifecycle == .start } + events.filter { $0.lifecycle != .start }
    }

    /// All events, duplicates included. The first of them counts, so tests that compare by order leave the others out.
    var events: [FeedEvent] { arrivals.map(\.event) }
}

/// Computes a match's state as one would with pencil and paper: all facts that were not withdrawn, sorted, counted.
/// Written without a look at the reducer.
func pencilAndPaper(_ events: [FeedEvent], topic: TopicID) -> JSONObject {
    var facts: [String: Fact] = [:]
    var withdrawnAt: [String: FeedTime] = [:]
    for event in events where event.topic == topic {
        switch event.change {
        case .fact(let fact) where fact.values["side"] != "nowhere": facts[fact.id] = fact
        case .retraction(let id): withdrawnAt[id] = event.at
        default: break
        }
    }
    let live = facts.values.filter { withdrawnAt[$0.id] == nil }
    let teams = live.first { $0.kind == "teams" }
    func count(_ kind: String, _ side: String, _ condition: (Fact) -> Bool = { _ in true }) -> JSONValue {
        .int(Int64(live.filter { $0.kind == kind && $0.values["side"] == .string(side) && condition($0) }.count))
    }
    var state = JSONObject()
    for side in ["home", "away"] {
        state[side] = teams?.values[side]
        state[side + "Score"] = count("goal", side)
        state[side + "Yellow"] = count("card", side) { $0.values["color"] != "red" }
        state[side + "Red"] = count("card", side) { $0.values["color"] != "yellow" }
        if live.contains(where: { $0.kind == "shootoutKick" || $0.values["period"] == "PEN" }) {
            state[side + "Shootout"] = count("shootoutKick", side) { $0.values["scored"] == true }
        }
    }
    let period = live.filter { $0.kind == "period" }.max { ($0.at, $0.id) < ($1.at, $1.id) }
    state["period"] = period?.values["period"] ?? "PRE"
    state["clockRunning"] = .bool(["1H", "2H", "ET1", "ET2"].contains(state["period"]?.stringValue))
    if let period, state["period"] != "PRE" { state["periodStartedAt"] = .double(period.at.activityKitSeconds) }

    // News: a live fact at its own time; a withdrawn one at the time of its withdrawal, but not before its own.
    let news =
        facts.values.filter { $0.kind != "teams" && $0.values["period"] != "PRE" }
        .map { (at: max(withdrawnAt[$0.id] ?? $0.at, $0.at), withdrawn: withdrawnAt[$0.id] != nil, fact: $0) }
        .max { ($0.at, $0.withdrawn ? 1 : 0, $0.fact.id) < ($1.at, $1.withdrawn ? 1 : 0, $1.fact.id) }
    if let news {
        let side = news.fact.values["side"]?.stringValue ?? ""
        switch news.fact.kind {
        case "goal": state["highlight"] = .string(side + "Score")
        case "shootoutKick": state["highlight"] = .string(side + "Shootout")
        case "card": state["highlight"] = .string(side + (news.fact.values["color"] == "yellow" ? "Yellow" : "Red"))
        case "period": state["highlight"] = "period"
        default: state["highlight"] = "lastEvent"
        }
    }
    return state
}
