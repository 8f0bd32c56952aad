import APNsSimulator
import Distance
import FanfareFeeds
import FanfareModel
package import FanfareTOML
import Foundation

extension Scenario {
    /// Reads a scenario file.
    ///
    /// - Throws: `TOMLError` with every fault, each with line and column.
    package init(file path: String) throws(TOMLError) {
        let bytes = try TOMLValue.contents(ofFile: path)
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        try self.init(toml: bytes, name: name, file: path)
    }

    /// - Parameter file: name of the file in messages.
    package init(toml bytes: [UInt8], name: String, file: String) throws(TOMLError) {
        self.init(name: name)
        let faults = TableReader.Faults()
        let document = try TOMLValue.document(bytes, name: file)
        read(TableReader(document.members ?? [], at: .start, faults))
        guard faults.all.isEmpty else { throw TOMLError(name: file, faults: faults.all) }
    }

    private static let lengths = Duration.milliseconds(1)...Duration.seconds(24 * 3600)
    fileprivate static let moments = Duration.zero...Duration.seconds(24 * 3600)

    private mutating func read(_ table: TableReader) {
        purpose.question = table.text("question") ?? ""
        purpose.good = table.text("good") ?? ""
        purpose.time = table.text("time") ?? ""
        for key in ["question", "good"] where table.members.allSatisfy({ $0.key != key }) {
            table.faults.note(.start, "\(key) is missing; expected text in quotes")
        }
        seed = table.whole("seed", 0...Int.max).map(UInt64.init) ?? seed
        shards = table.whole("shards", 1...64) ?? shards
        engines = table.whole("engines", 1...16) ?? engines
        warmUp = table.duration("warmUp", Scenario.moments) ?? warmUp
        duration = table.duration("duration", Scenario.lengths) ?? duration
        drain = table.duration("drain", Scenario.moments) ?? drain
        lateness = table.duration("lateness", Scenario.lengths) ?? lateness
        if let reader = table.table("feed") { feed.read(reader, duration) }
        if let reader = table.table("subscribers") { subscribers.read(reader) }
        if let reader = table.table("follows") { churn.follows.read(reader, duration) }
        if let reader = table.table("unfollows") { churn.unfollows.read(reader, duration) }
        if let reader = table.table("rotations") { churn.rotations.read(reader, duration) }
        if let reader = table.table("transport") { transport = LoadTransport(reader, duration) ?? transport }
        if let reader = table.table("clock") { clockStep = ClockStep(reader, duration) }
        if let reader = table.table("restart") { readRestart(reader) }
        for value in table.array("thresholds") ?? [] {
            guard let text = table.read(value, for: "thresholds", "text in quotes", \.text) else { continue }
            do { thresholds.append(try Threshold(text)) } catch { table.faults.note(value.location, "\(error)") }
        }
        table.finish()
        checkSubscribers(table)
    }

    private mutating func readRestart(_ table: TableReader) {
        let at = table.duration("at", Scenario.moments) ?? .zero
        table.check(at, "at", before: duration)
        table.finish()
        restartAt = at
        if [churn.follows, churn.unfollows, churn.rotations].contains(where: { $0.perSecond > 0 }) {
            table.faults.note(
                table.location,
                "a restart loads those who followed at the start: it has no follows, unfollows and rotations")
        }
    }

    private func checkSubscribers(_ table: TableReader) {
        if let lineups = subscribers.lineups, feed.source == .rates, lineups.upperBound > feed.topics {
            table.faults.note(
                table.location,
                "lineups of up to \(lineups.upperBound) topics need as many; the feed has \(feed.topics)")
        }
        switch transport {
        case .simulator: break
        case .discard:
            if subscribers.sick > 0 {
                table.faults.note(
                    table.location, "sick tokens are answered by a simulator; discard answers them as others")
            }
        case .host:
            if subscribers.deadShare > 0 {
                table.faults.note(
                    table.location, "deadShare is of a simulator or of discard; a host has its own dead tokens")
            }
        }
    }
}

extension Scenario.Subscribers {
    fileprivate mutating func read(_ table: TableReader) {
        count = table.whole("count", 0...20_000_000) ?? count
        tokenBytes = table.whole("tokenBytes", 16...512) ?? tokenBytes
        zipf = table.number("zipf", 0...10) ?? zipf
        lineups = table.range("lineups", 1...64)
        hasFavourites = table.flag("favourites") ?? false
        deadShare = table.number("deadShare", 0...1) ?? deadShare
        sick = table.whole("sick", 0...1_000_000) ?? sick
        silencedShare = table.number("silencedShare", 0...1) ?? silencedShare
        essentialShare = table.number("essentialShare", 0...1) ?? essentialShare
        quietShare = table.number("quietShare", 0...1) ?? quietShare
        frequentShare = table.number("frequentShare", 0...1) ?? frequentShare
        if sick > count { table.faults.note(table.location, "sick is \(sick), and there are \(count) subscribers") }
        if hasFavourites, lineups == nil {
            table.faults.note(table.location, "a favourite is of a lineup, as in lineups = [3, 8]")
        }
        table.finish()
    }
}

extension Scenario.Arrivals {
    fileprivate mutating func read(_ table: TableReader, _ duration: Duration) {
        perSecond = table.number("perSecond", 0...10_000_000) ?? 0
        from = table.duration("from", Scenario.moments) ?? .zero
        until = table.duration("until", Scenario.moments)
        table.check(from, "from", before: duration)
        if let until, until < from { table.faults.note(table.location, "until is before from") }
        if let until { table.check(until, "until", before: duration + .nanoseconds(1)) }
        table.finish()
    }
}

extension Scenario.ClockStep {
    fileprivate init?(_ table: TableReader, _ duration: Duration) {
        at = table.duration("at", Scenario.moments) ?? .zero
        table.check(at, "at", before: duration)
        let ahead = table.duration("ahead", Scenario.moments)
        let back = table.duration("back", Scenario.moments)
        table.finish()
        guard (ahead == nil) != (back == nil) else {
            table.faults.note(table.location, "a step of the clock has ahead or back, as in ahead = \"1 h\"")
            return nil
        }
        by = ahead ?? .zero - (back ?? .zero)
    }
}

extension LoadFeed {
    fileprivate static let rates = 0.0...100_000_000.0

    fileprivate mutating func read(_ table: TableReader, _ duration: Duration) {
        kind = table.choice("kind", of: Kind.allCases.map { ($0.rawValue, $0) }) ?? kind
        topics = table.whole("topics", 1...2_000_000) ?? topics
        eventsPerSecond = table.number("events", LoadFeed.rates) ?? 0
        updatesPerSecond = table.number("updates", LoadFeed.rates) ?? 0
        goalsPerSecond = table.number("goals", LoadFeed.rates) ?? 0
        speed = table.number("speed", 0.001...1_000_000) ?? speed
        let recording: [String]? = table.texts("recording")
        let generator = table.choice("generator", of: GeneratedFeed.allCases.map { ($0.rawValue, $0) })
        for value in table.array("bursts") ?? [] {
            if let reader = table.table(value, for: "bursts") { bursts += Burst.read(reader, duration, of: self) }
        }
        if recording != nil, generator != nil {
            table.faults.note(table.location, "a feed has a recording or a generator, not both")
        }
        if recording?.isEmpty == true { table.faults.note(table.location, "a recording has one file at least") }
        if let recording { source = .recording(recording) }
        if let generator { source = .generator(generator) }
        let others = source == .rates ? ["speed"] : ["kind", "topics"]
        for member in table.members where others.contains(member.key) {
            table.faults.note(
                member.value.location,
                source == .rates
                    ? "\(member.key) is of a recording or a generator"
                    : "\(member.key): a recording or a generator has its own")
        }
        if source != .rates, eventsPerSecond + updatesPerSecond + goalsPerSecond > 0 || !bursts.isEmpty {
            table.faults.note(
                table.location, "a recording has its own arrivals: leave events, updates, goals and bursts out")
        }
        table.finish()
    }
}

extension LoadFeed.Burst {
    /// Reads a burst, and its repetitions if it has `every`.
    fileprivate static func read(_ table: TableReader, _ duration: Duration, of feed: LoadFeed) -> [LoadFeed.Burst] {
        var burst = LoadFeed.Burst(at: table.duration("at", Scenario.moments) ?? .zero)
        burst.within = table.duration("within", Scenario.moments) ?? .zero
        let occasions = Occasion.allCases.map { ($0.rawValue, $0) }
        burst.occasion = table.choice("occasion", of: occasions) ?? .goal
        burst.count = table.whole("count", 1...100_000_000) ?? 1
        burst.firstTopic = table.whole("firstTopic", 0...2_000_000) ?? 0
        burst.topics = table.whole("topics", 1...2_000_000) ?? 1
        let every = table.duration("every", Duration.milliseconds(1)...Duration.seconds(24 * 3600))
        let times = table.whole("times", 1...100_000) ?? 1
        if (every == nil) == table.members.contains(where: { $0.key == "times" }) {
            table.faults.note(table.location, "every and times belong together, as in every = \"10 s\", times = 3")
        }
        if [.kick, .period].contains(burst.occasion), feed.kind != .football {
            table.faults.note(
                table.location, "a \(burst.occasion.rawValue) is of football, and the feed is of \(feed.kind.rawValue)")
        }
        if burst.firstTopic + burst.topics > feed.topics {
            table.faults.note(
                table.location,
                "topics \(burst.firstTopic) to \(burst.firstTopic + burst.topics - 1) are not in a feed of \(feed.topics) topics"
            )
        }
        table.finish()
        let bursts = (0..<times).map { number in
            var next = burst
            next.at += (every ?? .zero) * number
            return next
        }
        // The arrivals of a burst lie before the end of its time, so it may end with the schedule.
        if let last = bursts.last {
            table.check(last.at, "the last burst", before: duration)
            if last.at < duration, last.at + last.within > duration {
                table.faults.note(table.location, "the last burst ends after the duration; it must end within it")
            }
        }
        return bursts
    }
}

extension LoadTransport {
    /// Options of the simulator that a scenario may not set: where it listens, and the files that it reads and writes.
    private static let ownOptions: Set = ["--public", "--listen", "--cert", "--key", "--dump"]

    /// Notes what the programs would refuse.
    private static func check(_ options: [String], _ distance: [String]?, _ table: TableReader) {
        // Options that the laboratory adds; no file is read.
        var given = ["--cert", "c", "--key", "k"]
        if !isOfFastMode(options) { given += ["--public-key", "p", "--bundle-id", "b"] }
        do { _ = try SimulatorOptions(arguments: given + options) } catch {
            table.faults.note(table.location, "options: \(error.description)")
        }
        guard let distance else { return }
        do { _ = try RelayOptions(arguments: ["--to", "127.0.0.1:1"] + distance) } catch {
            table.faults.note(table.location, "distance: \(error.description)")
        }
    }

    fileprivate init?(_ table: TableReader, _ duration: Duration) {
        let kinds = ["discard", "simulator", "host"]
        let kind = table.choice("kind", of: kinds.map { ($0, $0) }) ?? "discard"
        defer { table.finish() }
        switch kind {
        case "simulator":
            let options = table.texts("options") ?? []
            for option in options where LoadTransport.ownOptions.contains(String(option.prefix { $0 != "=" })) {
                table.faults.note(
                    table.location, "\(option): the laboratory chooses it, because load stays on this machine")
            }
            let distance: [String]? = table.texts("distance")
            LoadTransport.check(options, distance, table)
            self = .simulator(options: options, distance: distance, connections: table.whole("connections", 1...1000))
        case "host":
            let host = table.text("host") ?? "127.0.0.1"
            guard let port = table.whole("port", 1...65_535), let ca = table.text("ca"), let key = table.text("key")
            else {
                table.faults.note(table.location, "a host needs port, ca and key")
                return nil
            }
            guard ["127.0.0.1", "::1", "localhost"].contains(host) else {
                table.faults.note(
                    table.location, "\(host) is not this machine: load goes to 127.0.0.1, ::1 or localhost")
                return nil
            }
            self = .host(host, port: port, caFile: ca, keyFile: key)
        default:
            var sink = Scenario.Sink()
            sink.pushesPerSecond = table.whole("pushesPerSecond", 1...1_000_000_000)
            for value in table.array("stalls") ?? [] {
                guard let reader = table.table(value, for: "stalls") else { continue }
                let at = reader.duration("at", Scenario.moments) ?? .zero
                reader.check(at, "at", before: duration)
                sink.stalls.append(
                    Scenario.Stall(at: at, length: reader.duration("length", Scenario.moments) ?? .zero))
                reader.finish()
            }
            self = .discard(sink)
        }
    }
}

extension TableReader {
    /// Notes a moment that the run does not reach: its part of the load would be missing without a word.
    fileprivate func check(_ moment: Duration, _ name: String, before duration: Duration) {
        guard moment >= duration else { return }
        faults.note(
            location,
            "\(name) is \(moment.inSeconds.shortened) s, and the duration is \(duration.inSeconds.shortened) s; expected an earlier moment"
        )
    }

    fileprivate func array(_ key: String) -> [TOMLValue]? {
        take(key, "an array") { if case .array(let values) = $0.content { values } else { nil } }
    }

    fileprivate func texts(_ key: String) -> [String]? {
        take(key, "texts in quotes, as [\"a\", \"b\"]") { value in
            guard case .array(let values) = value.content else { return nil }
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        }
    }

    fileprivate func number(_ key: String, _ range: ClosedRange<Double>) -> Double? {
        take(key, "a number from \(range.lowerBound) to \(range.upperBound)") { value in
            let number: Double? =
                switch value.content {
                case .integer(let whole): Double(whole)
                case .number(let number): number
                default: nil
                }
            return number.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A range of whole numbers, as `[3, 8]`.
    fileprivate func range(_ key: String, _ bounds: ClosedRange<Int>) -> ClosedRange<Int>? {
        take(key, "two whole numbers from \(bounds.lowerBound) to \(bounds.upperBound), as [3, 8]") { value in
            guard case .array(let values) = value.content, values.count == 2 else { return nil }
            let numbers = values.compactMap { value -> Int? in
                guard case .integer(let whole) = value.content, let number = Int(exactly: whole),
                    bounds.contains(number)
                else { return nil }
                return number
            }
            return numbers.count == 2 && numbers[0] <= numbers[1] ? numbers[0]...numbers[1] : nil
        }
    }
}
