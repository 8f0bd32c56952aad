@_exported public import FanfareDecisions
import FanfareModel
@_exported public import FanfareTOML
import FanfareThreads

extension Rules {
    /// Reads a rules file (TOML): one table per topic kind, each complete in itself. Kinds that the file does not name keep their
    /// built-in rules; `generic` applies to all kinds without rules, `lineups` to activities that show several topics. No file sets
    /// `limits`.
    ///
    /// ```toml
    /// [delivery]
    /// minimumInterval = "10 s"
    /// fields.courier = { redact = "initial" }
    ///
    /// [delivery.occasions.arriving]
    /// when = { status = "arriving" }
    /// essential = true
    /// alert = { class = "essential", burst = 1, refill = "30 min", freshFor = "10 min", title = "Almost there" }
    /// ```
    ///
    /// Any thread may call this; the call blocks until it has read the file. It reads a pipe as well, such as the shell's `<(…)`, but an empty pipe
    /// is an error. More than 1,048,576 bytes are a fault, and the call reads no further.
    ///
    /// - Throws: `TOMLError` with every fault, each with line and column; nothing of the file then applies.
    @available(*, noasync, message: "await Rules.read(file:) instead: this one blocks a thread of the pool")
    public init(file path: String) throws(TOMLError) {
        try self.init(toml: try TOMLValue.contents(ofFile: path), name: path)
    }

    /// Reads a rules file as `init(file:)` does, on a thread for it, while the task suspends. A cancelled task still waits.
    ///
    /// - Throws: `TOMLError` with every fault, or with the reason why the file cannot be read; that no thread can be created is such a reason.
    public static func read(file path: String) async throws(TOMLError) -> Rules {
        try await read(file: path) { (body) throws(ThreadError) in
            try DetachedThread.start(name: "rules file", body)
        }
    }

    /// - Parameter start: runs a call that blocks on a thread for it.
    static func read(
        file path: String, start: @Sendable (_ body: @escaping @Sendable () -> Void) throws(ThreadError) -> Void
    ) async throws(TOMLError) -> Rules {
        let result: Result<Rules, TOMLError> = await withCheckedContinuation { continuation in
            do throws(ThreadError) {
                try start {
                    do throws(TOMLError) {
                        continuation.resume(returning: .success(try Rules(file: path)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(TOMLError(unreadable: path, error.description)))
            }
        }
        return try result.get()
    }

    /// Reads the bytes of a rules file, at most 1,048,576, for example from a database or a request. Any bytes may be passed, from any thread: a
    /// document beyond a bound of size or nesting is a fault.
    ///
    /// - Parameters:
    ///   - bytes: TOML in UTF-8.
    ///   - name: name of the rules in messages; nothing is opened.
    /// - Throws: `TOMLError` as for a file.
    public init(toml bytes: [UInt8], name: String) throws(TOMLError) {
        self = .builtIn
        let faults = TableReader.Faults()
        guard let kinds = try TOMLValue.document(bytes, name: name).members else { return }
        let notes = ReducerNote.Lines(bytes)
        for member in kinds {
            guard let members = member.value.members else {
                faults.note(
                    member.keyLocation, "\(member.key): unknown key; expected the table of a topic kind, as [football]")
                continue
            }
            if member.key == LineupRules.table {
                lineups = LineupRules(TableReader(members, at: member.keyLocation, faults))
                continue
            }
            let kind = TopicKind(member.key)
            var rules = TopicRules()
            let hasOwnReducer = notes.note(of: member) != nil
            rules.read(TableReader(members, at: member.keyLocation, faults), kind: kind, hasOwnReducer: hasOwnReducer)
            if kind == .generic { other = rules } else { self.kinds[kind] = rules }
        }
        guard faults.all.isEmpty else { throw TOMLError(name: name, faults: faults.all) }
    }
}

/// A reducer's name in a rules file, and the occasions that it reports.
struct NamedReducer {
    let name: String
    let reducer: any Reducer
    /// Occasions of the reducer; `nil`: those of its facts.
    let occasions: [OccasionKind]?

    static let all = [
        NamedReducer(
            name: "football", reducer: FootballReducer(),
            occasions: [
                .goal, .goalCancelled, .redCard, .redCardCancelled, .kickOff, .fullTime, .shootout, .shootoutKick,
                .interrupted, .periodChange, .yellowCard, .substitution,
            ]),
        NamedReducer(name: "transit", reducer: TransitReducer(), occasions: [.arriving]),
        NamedReducer(name: "counting", reducer: CountingReducer(), occasions: nil),
        NamedReducer(name: "patches", reducer: PatchesOnly(), occasions: []),
    ]

    /// Returns the reducer of a kind whose table names none.
    static func usual(for kind: TopicKind) -> NamedReducer {
        all.first { $0.name == kind.rawValue } ?? all[2]
    }

    static func name(of reducer: any Reducer) -> String? {
        all.first { type(of: $0.reducer) == type(of: reducer) }?.name
    }
}

extension TopicRules {
    // Not an initialiser, in which Swift calls no observers: the values derived from `fields` and `occasions` would be missing.
    /// Reads the table of a kind.
    ///
    /// - Parameter hasOwnReducer: `true` if a program brings the reducer along. Its occasions and their words are not known here.
    fileprivate mutating func read(_ table: TableReader, kind: TopicKind, hasOwnReducer: Bool) {
        defer { table.finish() }
        let named =
            table.choice("reducer", of: NamedReducer.all.map { (name: $0.name, value: $0) }) ?? .usual(for: kind)
        reducer = named.reducer
        if reducer is CountingReducer { reducer = CountingReducer(table) }

        pace.read(table)
        lifetime.read(table)
        if let priority = table.take("priority", "5 or 10", Priority.init(inRules:)) { self.priority = priority }
        relevance = table.whole("relevance", 0...100)
        scheduledAt = table.text("scheduledAt")
        content.read(table)
        alerts.read(table)
        if let occasions = table.table("occasions") {
            for member in occasions.members {
                guard let reader = occasions.table(member.value, for: member.key) else { continue }
                let rule = OccasionRule(reader, reducer: hasOwnReducer ? nil : named)
                self.occasions[OccasionKind(member.key)] = rule
                let hasConditions = reader.members.contains { ["when", "falls", "rises"].contains($0.key) }
                if !hasConditions, !hasOwnReducer { tells(of: member, named, reader) }
            }
        }
    }

    /// Checks that the reducer reports an occasion, which has no `when`.
    private func tells(of occasion: TOMLValue.Member, _ named: NamedReducer, _ reader: TableReader) {
        let kind = OccasionKind(occasion.key)
        if let occasions = named.occasions {
            guard !occasions.contains(kind) else { return }
            let told =
                occasions.isEmpty ? "" : ", or one of " + occasions.map(\.rawValue).sorted().joined(separator: ", ")
            reader.faults.note(
                occasion.keyLocation,
                "\(kind): the reducer \(named.name) tells of no such occasion; "
                    + "expected `when`, `falls` or `rises`\(told)")
        } else {
            let fact = occasion.key.hasSuffix("Cancelled") ? String(occasion.key.dropLast(9)) : occasion.key
            guard !reducer.understands(factKind: fact) else { return }
            reader.faults.note(
                occasion.keyLocation,
                "\(kind): no counter and no fact has that name; "
                    + "expected `when`, `falls` or `rises`, or \(fact) in `facts`")
        }
    }
}

// A rules file has no tables for the groups of a kind's rules: their keys are in the kind's own table.

extension TopicPace {
    fileprivate mutating func read(_ table: TableReader) {
        if let interval = table.duration("minimumInterval", .zero ... .seconds(3600)) { minimumInterval = interval }
        if let staleAfter = table.take("staleAfter").flatMap({ StaleAfter($0, table) }) { self.staleAfter = staleAfter }
        if let lateness = table.duration("lateAfter", .zero ... .seconds(3600)) { lateAfter = lateness }
    }
}

extension TopicLifetime {
    fileprivate mutating func read(_ table: TableReader) {
        if let dismissal = table.take("dismissal", Dismissal.expected, Dismissal.init(inRules:)) {
            self.dismissal = dismissal
        }
        let days = Duration.seconds(86_400)
        if let silence = table.duration("endsAfterSilence", .seconds(60)...days * 30) { endsAfterSilence = silence }
        if let awaited = table.duration("beginsWithin", .seconds(60)...days * 90) { beginsWithin = awaited }
        if let memory = table.duration("forgetAfter", .zero...days * 90) { forgetAfter = memory }
        if let reopening = table.choice("reopens", of: Reopening.allCases.map { (name: $0.rawValue, value: $0) }) {
            reopens = reopening
        }
        table.refuse(
            "maximumDuration",
            "topics have no limit any more: each card has eight hours, and endsAfterSilence ends a topic")
        if let atLimit = table.choice("atLimit", of: [(name: "end", value: false), (name: "renew", value: true)]) {
            renews = atLimit
        }
        beginsWhen = table.conditions("beginsWhen")
        endsWhen = table.conditions("endsWhen")
    }
}

extension ContentRules {
    fileprivate mutating func read(_ table: TableReader) {
        if let reserve = table.size("attributesReserve", ContentRules.attributesReserveRange) {
            attributesReserve = reserve
        }
        derived = DerivedFields(table)
        if let fields = table.table("fields") {
            for field in fields.members { self.fields[field.key] = FieldRule(field, fields) }
        }
    }
}

extension AlertLimits {
    fileprivate mutating func read(_ table: TableReader) {
        if let buckets = table.table("buckets") {
            if let size = buckets.bucket("ordinary") { ordinary = size }
            if let size = buckets.bucket("reserved") { reserved = size }
            buckets.finish()
        }
        if let requested = table.table("requestedAlerts") {
            if let rule = AlertRule(requested, needsTitle: false) { self.requested = rule }
        }
    }
}

extension CountingReducer {
    fileprivate init(_ table: TableReader) {
        var counters: [String: Counter] = [:]
        if let all = table.table("counters") {
            for member in all.members {
                guard let counter = all.table(member.value, for: member.key) else { continue }
                let conditions = counter.conditions("where")
                let by = counter.text("by")
                if let fact = counter.text("fact") {
                    counters[member.key] = Counter(fact: fact, where: conditions, by: by)
                } else if !counter.members.contains(where: { $0.key == "fact" }) {
                    counter.faults.note(
                        member.keyLocation, "\(member.key): fact is missing; expected the kind of facts that it counts")
                }
                counter.finish()
            }
        }
        var latest: [String: Latest] = [:]
        if let all = table.table("latest") {
            for member in all.members {
                guard let kept = all.table(member.value, for: member.key) else { continue }
                let (facts, value) = (kept.texts("facts"), kept.text("value"))
                if kept.has("facts", "value"), let facts, let value {
                    latest[member.key] = Latest(of: facts, value: value)
                }
                kept.finish()
            }
        }
        self.init(counters: counters, latest: latest, facts: table.texts("facts") ?? [])
    }
}

extension StaleAfter {
    fileprivate static let range: ClosedRange<Duration> = .seconds(1) ... .seconds(8 * 3600)

    fileprivate init?(_ value: TOMLValue, _ table: TableReader) {
        if value.members == nil {
            let expected = TableReader.expected(StaleAfter.range) + ", or { rhythm, atLeast, atMost }"
            let fixed = table.read(value, for: "staleAfter", expected) { $0.duration(in: StaleAfter.range) }
            guard let fixed else { return nil }
            self = .fixed(fixed)
            return
        }
        guard let rhythm = table.table(value, for: "staleAfter") else { return nil }
        defer { rhythm.finish() }
        let times = rhythm.whole("rhythm", 1...1000)
        let atLeast = rhythm.duration("atLeast", StaleAfter.range)
        let atMost = rhythm.duration("atMost", StaleAfter.range)
        guard rhythm.has("rhythm", "atLeast", "atMost"), let times, let atLeast, let atMost else { return nil }
        guard atLeast <= atMost else {
            rhythm.faults.note(rhythm.location, "atLeast is longer than atMost; expected it to be shorter")
            return nil
        }
        self = .rhythm(times: times, Bounds(atLeast: atLeast, atMost: atMost))
    }
}

extension Dismissal {
    fileprivate static let expected =
        "\"proportional\", \"immediate\", \"at \" and a time, or a duration to \(longest.inRules), such as \"15 min\""

    fileprivate init?(inRules value: TOMLValue) {
        switch value.text {
        case "proportional": self = .proportional
        case "immediate": self = .immediate
        case let text? where text.hasPrefix("at "):
            guard let date = FeedTime(rfc3339: text.dropFirst(3)), date.isPlausible else { return nil }
            self = .at(date)
        default:
            guard let duration = value.duration(in: .zero...Dismissal.longest) else { return nil }
            self = .after(duration)
        }
    }
}

extension Priority {
    fileprivate init?(inRules value: TOMLValue) {
        guard case .integer(let number) = value.content, let raw = UInt8(exactly: number) else { return nil }
        self.init(rawValue: raw)
    }
}

extension DerivedFields {
    fileprivate init(_ table: TableReader) {
        self.init(deepLink: table.template("deepLink"))
        if let spoken = table.table("spoken") {
            self.spoken = spoken.template("text")
            _ = spoken.has("text")
            // A longer sentence would be a large part of the state, and of each push.
            if let size = spoken.size("bytes", .bytes(8) ... .bytes(400)) { spokenSizeMax = size }
            if let all = spoken.table("words") {
                for member in all.members { spokenWords[member.key] = all.text(member.key) }
            }
            spoken.finish()
        }
        guard let short = table.table("short") else { return }
        compactLeading = short.template("compactLeading")
        compactTrailing = short.template("compactTrailing")
        minimal = short.template("minimal")
        if let width = short.whole("width", 1...40) { widthMax = width }
        if let all = short.table("words") {
            for member in all.members { words[member.key] = all.text(member.key) }
        }
        short.finish()
    }
}

extension FieldRule {
    private static let expected =
        "\"ignored\", { step }, { minutes }, { percent }, or { redact = \"removed\", \"initial\" or { summary } }"

    fileprivate init?(_ field: TOMLValue.Member, _ fields: TableReader) {
        if field.value.text == "ignored" {
            self = .ignored
            return
        }
        guard let members = field.value.members else {
            fields.faults.note(
                field.value.location, "\(field.key) is \(field.value.name); expected \(FieldRule.expected)")
            return nil
        }
        let rule = TableReader(members, at: field.value.location, fields.faults)
        defer { rule.finish() }
        let forms = ["step", "minutes", "percent", "redact"].filter { form in members.contains { $0.key == form } }
        guard forms.count == 1 else {
            for form in forms { _ = rule.take(form) }
            fields.faults.note(
                field.keyLocation, "\(field.key): expected exactly one of step, minutes, percent, redact")
            return nil
        }
        // Ten years in seconds; nothing visible is coarser.
        let stepMax = 315_360_000
        func quantiser(_ step: Int64, _ usual: Quantiser) -> FieldRule {
            guard let hysteresis = rule.whole("hysteresis", 1...stepMax) else { return .quantised(usual) }
            return .quantised(Quantiser(step: step, hysteresis: Int64(hysteresis), parts: usual.parts))
        }
        switch forms[0] {
        case "step":
            guard let step = rule.whole("step", 1...stepMax).map(Int64.init) else { return nil }
            self = quantiser(step, Quantiser(step: step, hysteresis: 0))
        case "minutes":
            guard let step = rule.whole("minutes", 1...1440).map({ Int64($0) * 60 }) else { return nil }
            self = quantiser(step, Quantiser(step: step, hysteresis: step * 3 / 4))
        case "percent":
            guard let step = rule.whole("percent", 1...100).map(Int64.init) else { return nil }
            self = quantiser(step, .percent(step))
        default:
            let unless = rule.conditions("unless")
            guard let form = rule.take("redact").flatMap({ Redaction.Form($0, rule) }) else { return nil }
            self = .redacted(Redaction(form, unless: unless))
        }
    }
}

extension Redaction.Form {
    fileprivate init?(_ value: TOMLValue, _ table: TableReader) {
        switch value.text {
        case "removed": self = .removed
        case "initial": self = .initial
        case nil where value.members != nil:
            guard let summary = table.table(value, for: "redact") else { return nil }
            defer { summary.finish() }
            guard let text = summary.text("summary"), summary.has("summary") else { return nil }
            self = .summary(text)
        default:
            table.faults.note(
                value.location, "redact is \(value.name); expected \"removed\", \"initial\" or { summary = \"…\" }")
            return nil
        }
    }
}

extension OccasionRule {
    /// - Parameter reducer: the kind's reducer; `nil` if a program brings it along. A program's reducer may have words for any alert, so
    ///   no occasion needs a title.
    fileprivate init(_ table: TableReader, reducer: NamedReducer?) {
        let when = table.conditions("when")
        let shifts = table.shifts("falls").map { FieldShift($0.key, by: -$0.by) } + table.shifts("rises")
        self.init(
            when: when, shifts: shifts, essential: table.flag("essential") ?? false,
            droppableAfter: table.duration("droppableAfter", .zero ... .seconds(86_400)),
            highlight: table.text("highlight"), relevance: table.whole("relevance", 0...100))
        if let alert = table.table("alert") {
            // A reducer with occasions of its own has words for their alerts, and for no others.
            let hasWords = reducer.map { $0.occasions != nil && when.isEmpty && shifts.isEmpty } ?? true
            self.alert = AlertRule(alert, needsTitle: !hasWords)
        }
        table.finish()
    }
}

extension AlertRule {
    static let classes: [(name: String, value: AlertClass)] = [
        ("ordinary", .ordinary), ("essential", .essential),
    ]

    fileprivate init?(_ table: TableReader, needsTitle: Bool) {
        defer { table.finish() }
        let title = table.template("title")
        let body = table.template("body")
        let sound = table.text("sound")
        let `class` = table.choice("class", of: AlertRule.classes)
        let freshFor = table.duration("freshFor", .seconds(1) ... .seconds(86_400))
        let size = table.bucketSize()
        let required = ["class", "burst", "refill", "freshFor"] + (needsTitle ? ["title"] : [])
        guard table.has(required), let `class`, let freshFor, let size else { return nil }
        self.init(`class`, burst: size.burst, refill: size.refill, freshFor: freshFor)
        if let title { words = Words(title: title, body: body ?? "", sound: sound) }
        if title == nil, body != nil || sound != nil, !table.members.contains(where: { $0.key == "title" }) {
            table.faults.note(table.location, "body or sound without title; expected title too, or neither")
        }
    }
}

extension TableReader {
    /// Returns a number of bytes.
    fileprivate func size(_ key: String, _ range: ClosedRange<ByteCount>) -> ByteCount? {
        whole(key, range.lowerBound.bytes...range.upperBound.bytes).map { .bytes($0) }
    }

    /// Returns shifts such as `{ estimateMinutes = 10 }`, in the order of the file.
    fileprivate func shifts(_ key: String) -> [FieldShift] {
        guard let shifts = table(key) else { return [] }
        if shifts.members.isEmpty {
            faults.note(shifts.location, "\(key) is empty; expected a field and a number, or no \(key)")
        }
        return shifts.members.compactMap { member in
            let distance = read(member.value, for: member.key, "a number above 0") { value in
                value.scalar?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
            }
            return distance.map { FieldShift(member.key, by: $0) }
        }
    }
}
