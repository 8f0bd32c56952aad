/// Request of the harness to the program, as a line of text that begins with the request's number.
package enum Request: Sendable, Equatable {
    package enum Change: String, Sendable {
        /// Event with an id, which may be handed in again.
        case event
        /// Event with an id and an alert.
        case alert
        case publish, correct
        /// Last event of a topic.
        case end
    }

    package enum Order: String, Sendable { case mute, unmute, pause, resume }

    /// What the preferences of a card ask for.
    package enum Wish: String, Sendable {
        /// Every alert, as without preferences.
        case alerts
        /// No alert at any time.
        case silence
        /// No alert in quiet hours, which outlast the run.
        case quietHours

        package var wantsAlerts: Bool { self == .alerts }
    }

    /// The topic's state becomes that number.
    case change(Change, topic: String, number: Int)
    /// An operator's order; no other one has the number of the call.
    case order(Order, topic: String, call: Int)
    case follow(card: Int, audience: [String], generation: Int)
    case move(card: Int, audience: [String])
    case replaceToken(card: Int, generation: Int)
    case setPreferences(card: Int, Wish)
    case unfollow(card: Int)
    case start(card: Int, audience: [String])
    case confirm(card: Int, generation: Int)
    case settle
    /// No file of the program may grow from now on, as on a full disk; or they may again.
    case disk(isFull: Bool)
    case stop

    var line: String {
        switch self {
        case .change(let change, let topic, let number): "\(change.rawValue) \(topic) \(number)"
        case .order(let order, let topic, let call): "\(order.rawValue) \(topic) \(call)"
        case .follow(let card, let audience, let generation):
            "follow \(card) \(audience.joined(separator: ",")) \(generation)"
        case .move(let card, let audience): "move \(card) \(audience.joined(separator: ","))"
        case .replaceToken(let card, let generation): "replaceToken \(card) \(generation)"
        case .setPreferences(let card, let wish): "setPreferences \(card) \(wish.rawValue)"
        case .unfollow(let card): "unfollow \(card)"
        case .start(let card, let audience): "start \(card) \(audience.joined(separator: ","))"
        case .confirm(let card, let generation): "confirm \(card) \(generation)"
        case .settle: "settle"
        case .disk(let isFull): isFull ? "disk full" : "disk free"
        case .stop: "stop"
        }
    }

    /// - Returns: `nil` for a line that no harness writes.
    init?(_ words: some Collection<Substring>) {
        var rest = words.dropFirst()
        func number(_ word: Substring?) -> Int? { word.flatMap { Int($0) } }
        guard let verb = words.first.map(String.init) else { return nil }
        if let change = Change(rawValue: verb), let topic = rest.popFirst(), let value = number(rest.popFirst()) {
            self = .change(change, topic: String(topic), number: value)
            return
        }
        if let order = Order(rawValue: verb), let topic = rest.popFirst(), let call = number(rest.popFirst()) {
            self = .order(order, topic: String(topic), call: call)
            return
        }
        if verb == "settle" || verb == "stop" {
            self = verb == "settle" ? .settle : .stop
            return
        }
        if verb == "disk" {
            guard let state = rest.popFirst(), state == "full" || state == "free" else { return nil }
            self = .disk(isFull: state == "full")
            return
        }
        guard let card = number(rest.popFirst()) else { return nil }
        if verb == "unfollow" {
            self = .unfollow(card: card)
            return
        }
        guard let word = rest.popFirst() else { return nil }
        let audience = word.split(separator: ",").map(String.init)
        switch verb {
        case "follow":
            guard let generation = number(rest.popFirst()) else { return nil }
            self = .follow(card: card, audience: audience, generation: generation)
        case "move": self = .move(card: card, audience: audience)
        case "start": self = .start(card: card, audience: audience)
        case "setPreferences":
            guard let wish = Wish(rawValue: String(word)) else { return nil }
            self = .setPreferences(card: card, wish)
        case "replaceToken", "confirm":
            guard let generation = Int(word) else { return nil }
            self =
                verb == "confirm"
                ? .confirm(card: card, generation: generation) : .replaceToken(card: card, generation: generation)
        default: return nil
        }
    }

    /// Card that the request is about; `nil` for one about a topic or the program.
    var card: Int? {
        switch self {
        case .follow(let card, _, _), .move(let card, _), .replaceToken(let card, _), .setPreferences(let card, _),
            .unfollow(let card), .start(let card, _), .confirm(let card, _):
            card
        case .change, .order, .settle, .disk, .stop: nil
        }
    }
}

/// The program's answer to a request, a line as well.
package enum Answer: Equatable {
    case durable
    /// Durable as well: the engine has taken a call with the same idempotency key before.
    case repeated
    /// The receipt promises less.
    case memory
    case settled, unsettled
    /// The program has done what concerns it alone.
    case done
    /// The engine has stopped: activities that still lacked something, and events that were not known to be durable.
    case stopped(owed: Int, unstored: Int)
    case failed(String)

    var line: String {
        switch self {
        case .durable: "durable"
        case .repeated: "repeated"
        case .memory: "memory"
        case .settled: "settled"
        case .unsettled: "unsettled"
        case .done: "done"
        case .stopped(let owed, let unstored): "stopped \(owed) \(unstored)"
        case .failed(let text): "failed \(text.replacing("\n", with: " "))"
        }
    }

    init(_ words: some Collection<Substring>) {
        let rest = words.dropFirst()
        switch words.first {
        case "durable": self = .durable
        case "repeated": self = .repeated
        case "memory": self = .memory
        case "settled": self = .settled
        case "unsettled": self = .unsettled
        case "done": self = .done
        case "stopped":
            let numbers = rest.compactMap { Int($0) }
            self = numbers.count == 2 ? .stopped(owed: numbers[0], unstored: numbers[1]) : .failed("stopped")
        default: self = .failed(rest.joined(separator: " "))
        }
    }
}

extension Request {
    /// Text of the call's idempotency key, the same whenever the call is repeated; `nil` for a call without one. Calls for cards say what is to be,
    /// events have an id, and the other calls without a key may be carried out twice.
    var key: String? {
        switch self {
        case .order(_, _, let call): return "order/\(call)"
        case .start(let card, _): return "start/\(card)"
        case .change(let change, let topic, let number):
            let isKeyed =
                switch change {
                case .publish, .correct: number.isMultiple(of: 2)
                // The sweep of a goal is that of an event.
                case .alert: number.isMultiple(of: 8) && !Names.isCrowd(topic)
                case .event, .end: false
                }
            return isKeyed ? Names.event(topic, number) : nil
        case .follow, .move, .replaceToken, .setPreferences, .unfollow, .confirm, .settle, .disk, .stop: return nil
        }
    }

    /// Kind of the request, for counts.
    var kind: String {
        switch self {
        case .change(let change, _, _): change == .end ? "ends" : "events"
        case .order: "orders"
        case .follow: "follows"
        case .move: "moves"
        case .replaceToken: "rotations"
        case .setPreferences: "preferences"
        case .unfollow: "unfollows"
        case .start: "starts"
        case .confirm: "confirmations"
        case .settle, .disk, .stop: "questions"
        }
    }
}
