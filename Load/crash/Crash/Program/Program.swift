import Fanfare
import FanfareAPNs
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import Glibc

/// The program that is killed: an engine with a store and APNs, as backends embed it. It carries out requests that come over a socket, many
/// at once, and answers each one when its receipt has come.
package struct Program: Sendable {
    package struct Options: Sendable {
        var folder = ""
        var marks = ""
        /// Ports of the simulators, for each app that the engine has.
        var ports: [CardApp: UInt16] = [:]
        var certificates = ""
        var fault: Fault?
        /// Entries between two checkpoints: few, so that programs die in the middle of one, and their log is trimmed.
        var checkpointInterval: UInt64 = 3000

        static let shards = 2
        static let connectionsPerShard = 2

        var arguments: [String] {
            let numbers = CardApp.allCases.map { "\(ports[$0] ?? 0)" }.joined(separator: ",")
            return ["program", folder, marks, numbers, certificates, "\(checkpointInterval)"]
                + (fault.map { [$0.rawValue] } ?? [])
        }

        /// - Returns: `nil` for arguments that no harness gives.
        package init?(_ arguments: ArraySlice<String>) {
            let words = Array(arguments)
            guard words.count >= 5, let interval = UInt64(words[4]) else { return nil }
            (folder, marks, certificates, checkpointInterval) = (words[0], words[1], words[3], interval)
            for (app, word) in zip(CardApp.allCases, words[2].split(separator: ",")) {
                guard let port = UInt16(word) else { return nil }
                if port > 0 { ports[app] = port }
            }
            if words.count > 5 { fault = Fault(rawValue: words[5]) }
        }

        init() {}
    }

    /// Copy of the app's struct.
    private struct Shown: Codable, Hashable, Sendable {
        let topic: String
        let number: Int
        let minimal: String
        let note: String

        init(topic: String, number: Int) {
            (self.topic, self.number, minimal) = (topic, number, "\(number)")
            note = Names.note(topic, number)
        }
    }

    private let engine: Engine
    private let fault: Fault?
    private static let output = Locked(())

    /// Lives until it is killed or told to stop. Requests come over standard input, a socket, and answers go back there.
    ///
    /// - Returns: exit status.
    package static func run(_ options: Options) -> Int32 {
        do {
            let program = Program(engine: try engine(options), fault: options.fault)
            Program.say("0 ready")
            program.listen()
            return 0
        } catch {
            let line = Array("0 failed \(error)\n".utf8)
            _ = line.withUnsafeBytes { write(STDIN_FILENO, $0.baseAddress, $0.count) }
            return 1
        }
    }

    private init(engine: Engine, fault: Fault?) { (self.engine, self.fault) = (engine, fault) }

    private static func engine(_ options: Options) throws -> Engine {
        let marks = try PhaseMarks(file: options.marks)
        // The parts that `.folder` opens, in its order.
        let log = MarkedLog(try LMDBLog(folder: options.folder), marks)
        let people = MarkedPeople(try LMDBPeopleStore(store: options.folder, mergeMin: 64), marks)
        let claims = MarkedClaims(try ClaimFolder(store: options.folder), marks)
        var store = StoreChoice.parts(log: log, people: people, claims: claims)
        store.checkpointInterval = options.checkpointInterval
        // Apps that share a key share its provider token.
        let credentials = try ProviderToken(
            keyFile: options.certificates + "/apns.p8", keyID: Names.keyID, teamID: Names.teamID)
        var engineOptions = Engine.Options(transport: .discard, store: store)
        engineOptions.shards = Options.shards
        engineOptions.rules = Program.rules
        var observer = Engine.Observer()
        observer.onReport = { Program.complain($0) }
        observer.onActivityEvent = { event in
            if case .refused(let refusal) = event.fate { Program.complain("refused: \(refusal)") }
            if case .notStarted(.uncertain) = event.fate { Program.say("0 uncertain \(event.activity.text ?? "")") }
        }
        let apps = CardApp.allCases.filter { options.ports[$0] != nil }
        return try Engine(
            engineOptions, observer: observer, apps: apps.map(\.id),
            makeTransports: apps.map { connections(of: $0, options, credentials, marks) })
    }

    /// Returns the function that makes the connections of an app's shards.
    private static func connections(
        of app: CardApp, _ options: Options, _ credentials: ProviderToken, _ marks: PhaseMarks
    ) -> TransportFactory {
        var configuration = PoolConfiguration(
            endpoint: Endpoint(
                host: "127.0.0.1", port: options.ports[app] ?? 0, caFile: options.certificates + "/ca.pem",
                serverName: "localhost"),
            bundleID: app.bundleID, connections: Options.connectionsPerShard)
        configuration.quota = ConnectionQuota(pools: Options.shards)
        return { [configuration] loop, source, context in
            try MarkedTransport(
                { source in
                    try ConnectionPool(
                        loop: loop, source: source, credentials: credentials, configuration: configuration,
                        clock: context.clock, proof: context.proof, onReport: context.report)
                }, MarkedSource(source, marks))
        }
    }

    /// Time after which a topic is forgotten that has ended.
    static let forgetAfterSeconds = 60

    /// Every alert is granted, and topics are forgotten soon.
    private static var rules: Rules {
        let bucket = TokenBucket.Size(burst: 1000, refill: .milliseconds(10))
        var kind = TopicRules(
            alerts: .init(
                requested: AlertRule(.essential, burst: 1000, refill: .milliseconds(10), freshFor: .seconds(300)),
                ordinary: bucket, reserved: bucket))
        kind.pace.minimumInterval = .milliseconds(300)
        kind.lifetime.forgetAfter = .seconds(forgetAfterSeconds)
        return Rules(
            kinds: [:], other: kind,
            lineups: LineupRules(
                dwell: .seconds(2), minimumInterval: .milliseconds(300), gather: .milliseconds(100)))
    }

    private static func complain(_ text: String) {
        let line = Array("program: \(text)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    // MARK: Requests

    private func listen() {
        var lines = LineBuffer()
        while let bytes = Program.readSome() {
            for line in lines.take(bytes) {
                let words = line.split(separator: " ")
                guard let number = words.first.flatMap({ Int($0) }), let request = Request(words.dropFirst()) else {
                    Program.say("0 failed a request that is none: \(line)")
                    continue
                }
                // Not behind the calls that are under way.
                if case .disk(let isFull) = request {
                    Program.say("\(number) \(Program.limitFiles(isFull).line)")
                    continue
                }
                Task {
                    // A call with a key may be a repeated one, and has another answer then.
                    let isEarly = fault == .acknowledgedEarly && isOfEngine(request) && request.key == nil
                    if isEarly { Program.say("\(number) \(Answer.durable.line)") }
                    let answer = await carryOut(request, under: key(of: request))
                    // An order once more would hide what other calls do.
                    if fault == .repeatTaken, answer == .repeated, request.kind != "orders" {
                        _ = await carryOut(request, under: nil)
                    }
                    if !isEarly { Program.say("\(number) \(answer.line)") }
                    if request == .stop { exit(0) }
                }
            }
        }
    }

    /// Bytes that a file may have on a full disk: LMDB's pages about its newest commit can be written on a real one, too, because they are not new.
    private static let fullDiskBytes: rlim_t = 65_536

    /// Limits the size of all files, which stands for a full disk, or lifts that limit. A write beyond it fails.
    private static func limitFiles(_ isFull: Bool) -> Answer {
        // By default the first such write ends the process.
        signal(SIGXFSZ, SIG_IGN)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = isFull ? min(fullDiskBytes, limit.rlim_max) : limit.rlim_max
        guard setrlimit(resource, &limit) == 0 else {
            return .failed("the size of files cannot be limited: \(String(cString: strerror(errno)))")
        }
        return .done
    }

    private func isOfEngine(_ request: Request) -> Bool { request != .settle && request != .stop }

    /// - Returns: `nil` once the harness has gone.
    private static func readSome() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = bytes.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { return Array(bytes.prefix(count)) }
            if count == 0 || errno != EINTR { return nil }
        }
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        output.withLock { _ in
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { write(STDIN_FILENO, $0.baseAddress! + sent, $0.count - sent) }
                guard count > 0 || errno == EINTR else { return }
                sent += max(0, count)
            }
        }
    }

    private func key(of request: Request) -> IdempotencyKey? {
        guard let text = request.key else { return nil }
        return try? IdempotencyKey(fault == .keyForgotten ? "\(text)/\(getpid())" : text)
    }

    private func carryOut(_ request: Request, under key: IdempotencyKey?) async -> Answer {
        do throws(EngineError) {
            switch request {
            case .settle: return await engine.settle(within: .seconds(60)) ? .settled : .unsettled
            case .stop:
                let report = await engine.shutdown(within: .seconds(60))
                return .stopped(owed: report.owed, unstored: report.unstored)
            case .change(.alert, let topic, let number) where request.key != nil:
                return try await publish(Shown(topic: topic, number: number), isAlert: true, under: key)
            case .change(.publish, let topic, let number):
                return try await publish(Shown(topic: topic, number: number), isAlert: false, under: key)
            case .change(.correct, let topic, let number):
                let patch = self.patch(to: Shown(topic: topic, number: number))
                return Program.answer(try await engine.correct(TopicID(topic), .patch(patch), key: key))
            case .change(let change, let topic, let number): return try await ingest(change, topic, number)
            case .start(let card, let audience): return try await start(card, audience, under: key)
            case .order(let order, let topic, _):
                let operation: FeedEvent.Operation =
                    switch order {
                    case .mute: .mute
                    case .unmute: .unmute
                    case .pause: .pause
                    case .resume: .resume
                    }
                return Program.answer(try await engine.order(operation, for: .topic(TopicID(topic)), key: key))
            default: return try await changePeople(request)
            }
        } catch { return .failed("\(request.line): \(error)") }
    }

    private static func answer(_ receipt: Receipt) -> Answer {
        guard receipt.durability == .durable else { return .memory }
        return receipt.isRepeat ? .repeated : .durable
    }

    private func publish(
        _ shown: Shown, isAlert: Bool, under key: IdempotencyKey?
    ) async throws(EngineError) -> Answer {
        let alert = isAlert ? AlertText(title: Names.event(shown.topic, shown.number), body: "now") : nil
        return Program.answer(try await engine.publish(shown, for: TopicID(shown.topic), alert: alert, key: key))
    }

    private func ingest(_ change: Request.Change, _ topic: String, _ number: Int) async throws(EngineError) -> Answer {
        let shown = Shown(topic: topic, number: number)
        let patch = self.patch(to: shown)
        let id = Names.event(topic, number)
        var event = FeedEvent(
            topic: TopicID(topic), at: FeedTime(milliseconds: Clock.wallMilliseconds()), id: id,
            kind: change.rawValue, lifecycle: change == .end ? .end : nil, change: .patch(patch),
            alert: change == .alert ? AlertText(title: id, body: "now") : nil)
        let answer = Program.answer(try await engine.ingest(event))
        if change != .end, number.isMultiple(of: 5) {
            event.id = id + "/again"
            switch fault {
            case .alertTwice where change == .alert:
                event.change = .patch(self.patch(to: shown, isAgain: true))
                _ = try await engine.ingest(event)
            case .versionBack where number > 1:
                event.change = .patch(self.patch(to: Shown(topic: topic, number: number - 1)))
                _ = try await engine.ingest(event)
            case .sentAgain: _ = try await engine.order(.republish, for: .topic(TopicID(topic)))
            default: break
            }
        }
        return answer
    }

    private func patch(to shown: Shown, isAgain: Bool = false) -> JSONObject {
        var patch: JSONObject = [
            "topic": .string(shown.topic), "number": .int(Int64(shown.number)), "minimal": .string(shown.minimal),
        ]
        if fault != .noteKept { patch["note"] = .string(shown.note) }
        if isAgain { patch["again"] = .bool(true) }
        return patch
    }

    private func changePeople(_ request: Request) async throws(EngineError) -> Answer {
        switch request {
        case .follow(let card, let audience, let generation):
            return Program.answer(
                try await engine.follow(
                    Program.audience(audience), activity: ActivityID(Names.activity(card)),
                    subscriber: Program.subscriber(of: card),
                    token: Names.token(card: card, generation: generation)))
        case .move(let card, let audience):
            return Program.answer(
                try await engine.move(
                    activity: ActivityID(Names.activity(card)), subscriber: Program.subscriber(of: card),
                    to: Program.audience(audience)))
        case .confirm(let card, let generation):
            if fault == .confirmationForgotten { return .durable }
            return Program.answer(
                try await engine.confirmStart(
                    activity: ActivityID(Names.activity(card)), subscriber: Program.subscriber(of: card),
                    token: Names.token(card: card, generation: generation)))
        case .replaceToken(let card, let generation):
            if fault == .tokenKept { return .durable }
            return Program.answer(
                try await engine.replaceToken(
                    activity: ActivityID(Names.activity(card)), subscriber: Program.subscriber(of: card),
                    with: Names.token(card: card, generation: generation)))
        case .setPreferences(let card, let wish):
            if fault == .preferencesIgnored { return .durable }
            return Program.answer(
                try await engine.setPreferences(
                    Program.preferences(wish), activity: ActivityID(Names.activity(card)),
                    subscriber: Program.subscriber(of: card)))
        case .unfollow(let card):
            if fault == .unfollowForgotten { return .durable }
            return Program.answer(
                try await engine.unfollow(
                    activity: ActivityID(Names.activity(card)), subscriber: Program.subscriber(of: card)))
        default: return .failed(request.line)
        }
    }

    private func start(
        _ card: Int, _ audience: [String], under key: IdempotencyKey?
    ) async throws(EngineError) -> Answer {
        let start = StartRequest(
            activity: Names.activity(card), token: Names.token(card: card, generation: Names.startGeneration),
            attributesType: "Match", alert: AlertText(title: "start", body: "now"))
        return Program.answer(
            try await engine.start(
                Program.audience(audience), start, subscriber: Program.subscriber(of: card), key: key))
    }

    /// Half of the cards name no app, which means the engine's first one.
    private static func subscriber(of card: Int) -> SubscriberID {
        SubscriberID(Names.subscriber(of: card), app: card.isMultiple(of: 2) ? nil : CardApp(card: card).id)
    }

    /// Quiet hours have begun an hour ago and last a day but for a minute, longer than a run.
    private static func preferences(_ wish: Request.Wish) -> Preferences {
        switch wish {
        case .alerts: return Preferences()
        case .silence: return Preferences(alerts: AlertMask.none)
        case .quietHours:
            let day = 24 * 60
            let from = (Int(Clock.wallMilliseconds() / 60_000) + day - 60) % day
            return Preferences(
                quietHours: Preferences.QuietHours(
                    from: from, until: (from + day - 1) % day, utcOffset: 0, breakthrough: AlertMask.none))
        }
    }

    private static func audience(_ topics: [String]) -> AudienceKey {
        topics.count == 1 ? .topic(TopicID(topics[0])) : .lineup(topics.map { TopicID($0) })
    }
}
