import LoadJSON

/// Pushes that the simulator accepted, by card, in the order of arrival.
package struct Record {
    package enum Event: String { case start = "s", update = "u", end = "e" }

    /// Content of a push: the numbers that it shows of topics.
    package struct Content: Equatable {
        /// Name of the state in the dump: equal for equal states.
        package var name = ""
        package var shown: [Shown] = []
        package var isLineup = false

        package init(name: String, shown: [Shown], isLineup: Bool = false) {
            (self.name, self.shown, self.isLineup) = (name, shown, isLineup)
        }
    }

    package struct Shown: Equatable {
        package let topic: Int
        package let number: Int

        package init(_ topic: Int, _ number: Int) { (self.topic, self.number) = (topic, number) }
    }

    package struct Push {
        /// Milliseconds of the simulator's clock.
        package var arrival: Int64
        package var life: Int
        package var generation: Int
        package var event: Event
        package var stamp: Int64
        /// `nil` for an end that keeps what the card shows.
        package var content: Content?
        /// Changes whose alerts ride.
        package var alerts: [Shown] = []

        package init(
            arrival: Int64, life: Int, generation: Int = 0, event: Event = .update, stamp: Int64,
            content: Content?, alerts: [Shown] = []
        ) {
            (self.arrival, self.life, self.generation, self.event) = (arrival, life, generation, event)
            (self.stamp, self.content, self.alerts) = (stamp, content, alerts)
        }
    }

    package var pushes: [[Push]]
    /// Starts of the simulators' clocks.
    package private(set) var startedNanoseconds: [CardApp: Int64] = [:]
    package var complaints: [String] = []

    package init(cards: Int) { pushes = Array(repeating: [], count: cards) }

    /// Returns a time as the simulator of a card's app counts it.
    func milliseconds(_ nanoseconds: Int64, of card: Int) -> Int64 {
        (nanoseconds - startedNanoseconds[CardApp(card: card), default: 0]) / 1_000_000
    }

    // MARK: Reading

    private struct Meanings {
        let app: CardApp
        let topics: [String: Int]
        /// Card and generation by the token's name.
        var tokens: [String: (card: Int, generation: Int)] = [:]
        var contents: [String: Content] = [:]
        var alerts: [String: [Shown]] = [:]
    }

    /// Reads the dumps of the apps' simulators. A token that is of another app than its simulator is unknown there.
    package init(dumps: [CardApp: String], _ history: History) throws {
        self.init(cards: history.cards.count)
        for app in CardApp.allCases { if let dump = dumps[app] { try read(dump, of: app, history) } }
        place(history)
    }

    private mutating func read(_ dump: String, of app: CardApp, _ history: History) throws {
        let topics = history.topics.enumerated().map { ($1.name, $0) }
        var names = Meanings(app: app, topics: Dictionary(uniqueKeysWithValues: topics))
        for (index, card) in history.cards.enumerated() where CardApp(card: index) == app {
            var generations = card.tokens.map(\.value)
            if card.start != nil { generations.append(Names.startGeneration) }
            for generation in generations {
                names.tokens[Names.hash(of: Names.token(card: index, generation: generation))] = (index, generation)
            }
        }
        var reader = try JSONLineReader(path: dump)
        while let line = try reader.next() { try read(line, &names) }
    }

    private mutating func read(_ line: JSON, _ names: inout Meanings) throws {
        switch line["type"]?.stringValue {
        case "state":
            guard let hash = line["hash"]?.stringValue, let state = line["state"] else { return }
            guard let content = Record.content(state, hash, names.topics) else {
                complaints.append("a state that no topic has: \(state.canonicalText.prefix(Record.shownMax))")
                return
            }
            names.contents[hash] = content
        case "alert":
            guard let hash = line["hash"]?.stringValue else { return }
            let text = (line["title"]?.stringValue ?? "") + " " + (line["body"]?.stringValue ?? "")
            names.alerts[hash] = text.split { " ,:;·".contains($0) }.compactMap { Record.alert($0, names.topics) }
        case "token":
            guard let token = line["token"]?.stringValue, let accepted = line["accepted"]?.arrayValue else { return }
            guard let (card, generation) = names.tokens[token] else {
                complaints.append(
                    "token \(token) accepted \(accepted.count) pushes, and nobody of the \(names.app) app has it")
                return
            }
            for entry in accepted { try read(entry, of: card, generation, names) }
        case "counters":
            startedNanoseconds[names.app] = line["startedNanoseconds"]?.intValue ?? 0
            if let lost = line["unrecorded"]?.intValue, lost > 0 {
                complaints.append("\(lost) pushes are not in the dump")
            }
        default: break
        }
    }

    private mutating func read(_ entry: JSON, of card: Int, _ generation: Int, _ names: Meanings) throws {
        guard let parts = entry.arrayValue, parts.count >= 6, let arrival = parts[0].intValue,
            let stamp = parts[2].intValue, let event = parts[3].stringValue.flatMap(Event.init)
        else { throw CrashError("not an accepted push: \(entry.canonicalText)") }
        let alerts = event == .start ? [] : parts[5].stringValue.flatMap { names.alerts[$0] }
        if alerts?.isEmpty == true, event != .start { complaints.append("an alert of which no topic knows") }
        pushes[card].append(
            Push(
                arrival: arrival, life: 0, generation: generation, event: event, stamp: stamp,
                content: parts[1].stringValue.flatMap { names.contents[$0] },
                alerts: alerts ?? []))
    }

    /// Sorts the pushes of each card's tokens into one order, and says in which life each arrived.
    private mutating func place(_ history: History) {
        let begins = Dictionary(
            uniqueKeysWithValues: CardApp.allCases.map { app in
                (app, history.lives.map { ($0.beganNanoseconds - startedNanoseconds[app, default: 0]) / 1_000_000 })
            })
        for card in pushes.indices {
            // Stable: pushes of one token stay in their order.
            let order = pushes[card].indices.sorted { (pushes[card][$0].arrival, $0) < (pushes[card][$1].arrival, $1) }
            pushes[card] = order.map { pushes[card][$0] }
            for index in pushes[card].indices {
                pushes[card][index].life = Record.life(
                    of: pushes[card][index].arrival, begins: begins[CardApp(card: card), default: []])
            }
        }
    }

    /// Life whose push has arrived in that millisecond, by those in which lives began. No program sends anything in its first one, in which
    /// pushes of the life before may still arrive.
    static func life(of arrival: Int64, begins: [Int64]) -> Int {
        max(0, (begins.firstIndex { $0 >= arrival } ?? begins.count) - 1)
    }

    /// Returns what a state shows; `nil` for a state that no change has made, such as the number of one with the text of another.
    static func content(_ state: JSON, _ hash: String, _ topics: [String: Int]) -> Content? {
        func shown(_ name: JSON?, _ number: Int64?) -> Shown? {
            guard let topic = name?.stringValue.flatMap({ topics[$0] }), let number else { return nil }
            return Shown(topic, Int(number))
        }
        guard let rows = state["topics"]?.arrayValue else {
            guard let name = state["topic"]?.stringValue, let one = shown(state["topic"], state["number"]?.intValue),
                state["note"]?.stringValue == Names.note(name, one.number)
            else { return nil }
            return Content(name: hash, shown: [one])
        }
        let numbers = rows.map { shown($0["id"], $0["minimal"]?.stringValue.flatMap { Int64($0) }) }
        guard !numbers.contains(where: { $0 == nil }) else { return nil }
        return Content(name: hash, shown: numbers.compactMap(\.self), isLineup: true)
    }

    /// Characters of a wrong state that a complaint shows.
    private static let shownMax = 300

    private static func alert(_ word: Substring, _ topics: [String: Int]) -> Shown? {
        let parts = word.split(separator: "#")
        guard parts.count == 2, let topic = topics[String(parts[0])], let number = Int(parts[1]) else { return nil }
        return Shown(topic, number)
    }
}
