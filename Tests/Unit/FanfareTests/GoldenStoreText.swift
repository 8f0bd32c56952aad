import FanfareDecisions
import FanfareLog
import FanfareModel

/// Content of a store's folder as text, a line for each thing that the present build reads.
struct GoldenStoreText {
    private(set) var lines: [String] = []

    init(store: String) throws {
        try addLog(of: store)
        try addPeople(of: store)
        try addClaims(of: store)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Log

    private mutating func addLog(of store: String) throws {
        let log = try LMDBLog(folder: store, isReadOnly: true)
        defer { log.close() }
        lines.append("log: entries \(log.start) to \(log.end)")
        var found: [String] = []
        try log.read(from: log.start) { (position, entry) throws(LogError) in
            found.append("entry \(position): \(GoldenStoreText.text(entry))")
            return true
        }
        lines += found
        for position in try log.checkpoints.positions() {
            let head = try log.checkpoints.head(at: position)
            var rows: [String] = []
            try log.checkpoints.read(at: position) { (row) throws(LogError) in
                rows.append("\(row.first ?? 0) of \(row.count) bytes")
            }
            lines.append(
                "checkpoint \(position): now \(head.now.milliseconds), checksum \(head.checksum), "
                    + GoldenStoreText.text(head.rules))
            lines += rows.map { "checkpoint \(position): row \($0)" }
        }
    }

    private static func text(_ entry: LogEntry) -> String {
        var text = "now \(entry.now.milliseconds), item \(entry.item)"
        if let key = entry.key { text += ", key \(key.key) of \(key.content)" }
        if let position = entry.skippedAt { text += ", set aside at \(position)" }
        return text + "; " + GoldenStoreText.text(entry.body)
    }

    private static func text(_ body: LogEntry.Body) -> String {
        switch body {
        case .rules(let text, let version): GoldenStoreText.text(LogRules(text: text, decisionVersion: version))
        case .event(let event, let wall): GoldenStoreText.text(event) + "; wall \(GoldenStoreText.text(wall))"
        case .rejection(let rejection): "rejection at \(rejection.location): \(rejection.reason)"
        case .tick: "tick"
        case .feedEnd: "end of the feed"
        }
    }

    private static func text(_ rules: LogRules) -> String {
        "rules of \(rules.text.utf8.count) bytes, hash \(rules.text.utf8.fnv1a), decision version \(rules.decisionVersion)"
    }

    private static func text(_ event: FeedEvent) -> String {
        var parts = ["topic \(event.topic.rawValue)", "kind \(event.kind)", "at \(event.at.milliseconds)"]
        if let kind = event.topicKind { parts.append("topic kind \(kind.rawValue)") }
        if let seq = event.seq { parts.append("seq \(seq)") }
        if let id = event.id { parts.append("id \(id)") }
        if let lifecycle = event.lifecycle { parts.append(lifecycle == .start ? "start" : "end") }
        if event.isCorrection { parts.append("correction") }
        if let alert = event.alert { parts.append("alert " + text(alert)) }
        if let app = event.app { parts.append("app \(app)") }
        return parts.joined(separator: ", ") + "; " + text(event.change)
    }

    private static func text(_ change: FeedEvent.Change) -> String {
        switch change {
        case .nothing: "nothing"
        case .patch(let object): "patch " + text(object)
        case .contentState(let object): "content state " + text(object)
        case .fact(let fact): "fact \(fact.kind) \(fact.id) at \(fact.at.milliseconds) " + text(fact.values)
        case .retraction(let id): "retraction of \(id)"
        case .operation(let operation): "operation \(operation.rawValue)"
        }
    }

    static func text(_ object: JSONObject) -> String { String(decoding: EncodedState(object).bytes, as: UTF8.self) }

    private static func text(_ time: FeedTime?) -> String { time.map { "\($0.milliseconds)" } ?? "unknown" }

    private static func text(_ alert: AlertText) -> String {
        "\(text(alert.title)) / \(text(alert.body)) / \(alert.sound ?? "no sound")"
    }

    private static func text(_ line: AlertText.Line) -> String {
        switch line {
        case .text(let text): "text “\(text)”"
        case .localized(let key, let arguments): "key \(key) with \(arguments.joined(separator: " and "))"
        }
    }

    // MARK: People

    private mutating func addPeople(of store: String) throws {
        let people = try LMDBPeopleStore(store: store, isReadOnly: true)
        let count = try people.count()
        lines.append("people: \(count) cards, position \(people.position), next \(people.nextSerial)")
        var found: [String] = []
        try people.read { (key, card) throws(LogError) in
            switch card {
            case .success(let card): found.append("card \(key.serial) of slice \(key.slice): \(Self.text(card))")
            case .failure(let error): found.append("card \(key.serial) of slice \(key.slice): \(error)")
            }
            return true
        }
        lines += found
    }

    private static func text(_ card: Card) -> String {
        var parts = ["phase \(card.phase.rawValue)", "token \(hex(card.token))", "generation \(card.generation)"]
        if let subscriber = card.subscriber { parts.append("subscriber \(subscriber)") }
        if let activity = card.activity { parts.append("activity \(activity)") }
        switch card.audience {
        case .topic(let topic): parts.append("topic \(topic.rawValue)")
        case .lineup(let topics, let favourite):
            parts.append("lineup \(topics.map(\.rawValue).joined(separator: " ")), \(favourite?.rawValue ?? "none")")
        }
        parts.append("started \(card.startedAt.milliseconds), joined \(text(card.joinedAt))")
        if let app = card.app { parts.append("app \(app)") }
        if let preferences = card.preferences { parts.append(text(preferences)) }
        if let request = card.request { parts.append(text(request)) }
        return parts.joined(separator: ", ")
    }

    private static func text(_ preferences: Preferences) -> String {
        var text = "alerts \(preferences.alerts.rawValue), frequent \(preferences.frequentUpdates)"
        if let quiet = preferences.quietHours {
            let (from, until) = quiet.local(utcOffset: 0)
            text += ", quiet \(from) to \(until) but \(quiet.breakthrough.rawValue)"
        }
        return text
    }

    private static func text(_ request: StartRequest) -> String {
        "request \(request.number) of \(request.attributesType) \(text(request.attributes)) by \(request.activityKey), "
            + text(request.alert)
    }

    // MARK: Claims

    private mutating func addClaims(of store: String) throws {
        let claims = try ClaimFolder(store: store)
        defer { claims.close() }
        lines.append("claims: from \(GoldenStoreText.text(claims.start)), stamps to \(claims.stampCeiling ?? -1)")
        var found: [String] = []
        try claims.read { found += GoldenStoreText.texts($0) }
        var completions: [(key: CompletionKey, completion: StoredCompletion)] = []
        let head = try claims.readCompletions { completions.append(($0, $1)) }
        lines += found
        lines.append("completions: entry \(head?.position ?? 0) at \(GoldenStoreText.text(head?.now))")
        for (key, completion) in completions {
            lines.append("completion \(key.birth) of app \(key.app): \(GoldenStoreText.text(completion))")
        }
    }

    private static func texts(_ stored: StoredClaims) -> [String] {
        let head = "claims of \(stored.app?.description ?? "no app") at \(stored.now.milliseconds): "
        var texts = stored.claims.map { claim in
            head
                + "\(claim.topic.rawValue) through \(claim.through.milliseconds), expires \(claim.expires.milliseconds), "
                + "activities \(claim.activities.map(\.rawValue))"
        }
        if !stored.starts.isEmpty { texts.append(head + "starts \(stored.starts.map(\.rawValue))") }
        return texts
    }

    private static func text(_ completion: StoredCompletion) -> String {
        "\(completion.topic.rawValue) of \(completion.app?.description ?? "no app"), birth \(completion.birth), "
            + "version \(completion.version), hash \(completion.displayHash.map { "\($0)" } ?? "unknown"), "
            + "before \(completion.before.milliseconds), serials \(completion.serials), "
            + "exceptions \(completion.exceptions.map(\.rawValue))"
    }
}
