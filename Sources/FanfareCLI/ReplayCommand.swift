import Fanfare
import FanfareFeeds
import FanfareLog
import FanfareModel
import FanfareReplay
import FanfareRules

/// `fanfare replay`: turns a command line into a replay, and the replay's results into output for people and programs.
struct ReplayCommand {
    private(set) var options: ReplayOptions
    private(set) var decisionsPath: String?
    private(set) var statesPath: String?
    private(set) var printsJSON = false
    private(set) var subscribersPath: String?
    private(set) var storeFolder: String?
    /// Input files other than the feed and the subscribers: key and CA files.
    private var otherInputs: [String] = []

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var paths: [String] = []
        var apns = APNsFlags()
        options = ReplayOptions(paths: [])
        while let word = try arguments.next() {
            switch word {
            case .operand(let path): paths.append(path)
            case .option("--rules"):
                let file = try arguments.rulesFile()
                otherInputs.append(file)
                options.rules = try Arguments.rules(at: file)
            case .option("--format"): options.feed.format = try arguments.format()
            case .option("--kickoff"): options.feed.kickoff = try arguments.time()
            case .option("--speed"):
                options.timetable.speed = try arguments.value("max, or a number above 0", Self.speed)
            case .option("--max-gap"):
                options.timetable.gapMax = try arguments.value("seconds, 0 or more", Duration.init(seconds:))
            case .option("--from"): options.timetable.from = try arguments.time()
            case .option("--until"): options.timetable.until = try arguments.time()
            case .option("--subscribers"):
                let who = try arguments.value("a whole number from 0 to 100000000, or a file", Self.subscribers)
                if let file = who.1, let other = subscribersPath, other != file {
                    throw UsageError("--subscribers \(file): subscribers are one file, and \(other) is named before it")
                }
                (options.subscribers.count, subscribersPath) = who
            case .option("--lineups"):
                options.subscribers.lineups = try arguments.value(
                    "how many topics, as 4 or 3-8, at most 64", Self.lineups)
            case .option("--favourites"): options.subscribers.hasFavourites = true
            case .option("--preview"): options.preview = try arguments.topics()
            case .option("--seed"):
                options.subscribers.seed = try arguments.value("a whole number from 0") { UInt64($0) }
            case .option("--shards"): options.shards = try arguments.count(1...256)
            case .option("--pin"): options.pinsShards = true
            case .option("--patience"):
                options.patience = try arguments.value("seconds, or never", Self.patience)
            case .option("--decisions"): decisionsPath = try arguments.text("a file, or - for standard output")
            case .option("--states"): statesPath = try arguments.text("a file, or - for standard output")
            case .option("--store"): storeFolder = try arguments.text("a folder")
            case .option("--what-if"): options.countsWhatIf = true
            case .option("--json"): printsJSON = true
            case .option(let name):
                guard try apns.take(name, from: &arguments) else {
                    throw UsageError("\(name): unknown option; `fanfare replay --help` lists them")
                }
            }
        }
        try check(paths)
        otherInputs += [apns.keyFile, apns.caFile].compactMap(\.self)
        options.paths = paths
        options.store = storeFolder.map { StoreOptions(folder: $0, rules: options.rules.toml) }
        options.transport = try apns.transport()
    }

    /// Refuses options that contradict each other.
    private func check(_ paths: [String]) throws(UsageError) {
        guard !paths.isEmpty else { throw UsageError("the feed is missing: files, folders, or - for standard input") }
        guard paths == ["-"] || !paths.contains("-") else {
            throw UsageError("-: standard input is a live feed, and cannot be merged with files")
        }
        if paths == ["-"], let format = options.feed.format, format != .native {
            throw UsageError(
                "--format \(format.rawValue): standard input is read as native lines; name a file for other formats")
        }
        guard options.subscribers.lineups != nil || !options.subscribers.hasFavourites else {
            throw UsageError("--favourites: only means something with --lineups")
        }
        if let from = options.timetable.from, let until = options.timetable.until, until < from {
            throw UsageError("--until \(until): lies before --from \(from)")
        }
    }

    private static func speed(_ text: String) -> ReplayTimetable.Speed? {
        if text == "max" { return .max }
        guard let factor = Double(text), factor.isFinite, factor > 0 else { return nil }
        return .times(factor)
    }

    /// Reads a count or the path of a subscriber file. A text that begins like a number is a
    /// count, or an error: `./1e6` names a file `1e6`.
    private static func subscribers(_ text: String) -> (count: Int, path: String?)? {
        if text.first?.isNumber == true || text.hasPrefix("-") {
            return Int(text).flatMap { (0...100_000_000).contains($0) ? ($0, nil) : nil }
        }
        return text.isEmpty ? nil : (0, text)
    }

    /// - Returns: the time limit; `.some(nil)` for no limit; `nil` for a text that is neither.
    private static func patience(_ text: String) -> Duration?? {
        if text == "never" { return .some(nil) }
        return Duration(seconds: text).map(Optional.some)
    }

    private static func lineups(_ text: String) -> ClosedRange<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(ends.count), let least = ends[0], let most = ends[ends.count - 1], least <= most,
            1...64 ~= least, 1...64 ~= most
        else { return nil }
        return least...most
    }

    private var isLive: Bool { options.paths == ["-"] }

    /// Is `true` when standard output carries NDJSON, which a summary for people would spoil.
    private var summaryGoesToStandardError: Bool { decisionsPath == "-" || statesPath == "-" }

    /// Longest time that an interrupted replay waits for a reader that does not read.
    private static let lingerMax = Duration.seconds(1)

    func run() throws -> ExitStatus {
        var files = FileRoles()
        let inputs = self.options.paths + otherInputs + [subscribersPath, storeFolder].compactMap(\.self)
        for path in inputs { files.reads(path) }
        // A start that fails leaves the outputs of the run before as they are.
        let decisions = try decisionsPath.map { (path) throws(UsageError) in
            try files.open(
                path, option: "--decisions", capacity: isLive ? DecisionLogWriter.liveCapacity : OutputFile.capacity,
                keepsContent: true, awaitsReader: !isLive)
        }
        let log = decisions.map {
            DecisionLogWriter($0, isLive: isLive, leavesAtOnce: isLive || self.options.timetable.speed != .max)
        }
        let states = try statesPath.map { (path) throws(UsageError) in
            try files.open(path, option: "--states", keepsContent: true, awaitsReader: !isLive)
        }
        let console = ProgressConsole()
        let people = try storedPeople()
        let isPushing = options.subscribers.count > 0 || subscribersPath != nil || people != nil
        // Set as soon as the replay exists, and before any line is written.
        var interrupt: () -> Void = {}
        var output = ReplayOutput(report: console.report, progress: console.show, preview: console.show)
        if let log {
            output.decision = { line in
                switch log.write(line) {
                // A decision log without its end is worth little, but people wait for their pushes.
                case .failed(let failure) where isPushing:
                    console.report("\(failure); pushing goes on without a decision log")
                case .failed: interrupt()
                case .unread(let trouble): console.report(trouble)
                case nil: break
                }
            }
            if !isLive { output.isFull = { log.isFull } }
        }
        let recalled = try recalledLines()
        output.recalledDecision = recalled.map { lines in { lines.take($0) } }
        output.skippedDecisions = recalled.map { lines in { lines.skip($0) } }
        var options = options
        let subscribers = try subscribersPath.map { (path) throws(UsageError) in try SubscriberLoad(path) }
        options.subscribers.source = people ?? subscribers?.file
        options.keepsStates = states != nil
        let replay: Replay
        do { replay = try Replay(options, output: output) } catch { throw UsageError("\(error)") }
        subscribers?.reportResult()
        let damaged = people.map(reportPeople) ?? 0
        let hole = try recalled?.finish(isPushing: isPushing)
        for line in [hole, recalled?.notice].compactMap(\.self) { console.report(line) }
        do { try replay.takeOverStore() } catch { throw UsageError(error.description) }
        if storeFolder == nil { decisions?.empty() }
        states?.empty()
        interrupt = replay.interrupt
        log?.whenRoom(replay.goOn)

        let (summary, failures) = play(replay, log, states, console)
        let isClean =
            summary.isClean && failures == 0 && hole == nil && subscribers?.file.brokenLines ?? 0 == 0 && damaged == 0
            && Console.errors.lost == 0
        return isClean ? .done : .incomplete
    }

    /// Plays the replay and prints its summary.
    ///
    /// - Returns: the summary, and the number of outputs that are not whole.
    private func play(
        _ replay: Replay, _ log: DecisionLogWriter?, _ states: OutputFile?, _ console: ProgressConsole
    ) -> (summary: ReplaySummary, failures: Int) {
        let summary = replay.run()
        let patience = summary.interrupted ? ReplayCommand.lingerMax : nil
        console.finish(patience: patience)
        var failures = log?.finish(patience: patience) ?? []
        if let states { failures += write(replay, to: states, patience) }
        let text = printsJSON ? summary.json : summary.text
        if summaryGoesToStandardError {
            Console.complain(text, terminator: "", patience: patience)
        } else {
            do throws(OutputError) {
                try Console.print(text, patience: patience)
            } catch {
                failures.append(error.description)
            }
        }
        if !failures.isEmpty {
            Console.complain(failures.map { "fanfare replay: \($0)" }.joined(separator: "\n"), patience: patience)
        }
        return (summary, failures.count)
    }

    /// People of the store; `nil` if it has none.
    private func storedPeople() throws(UsageError) -> StoredPeople? {
        guard let folder = storeFolder, LMDBPeopleStore.exists(store: folder) else { return nil }
        if let subscribersPath {
            throw UsageError(
                "--subscribers \(subscribersPath): the store has people of its own; leave the file out, or bring it in with "
                    + "`fanfare people import`")
        }
        do throws(LogError) {
            return try StoredPeople(LMDBPeopleStore(store: folder, isReadOnly: true))
        } catch {
            throw UsageError("--store \(error)")
        }
    }

    /// Reports how many people were loaded.
    ///
    /// - Returns: number of rows that could not be read.
    private func reportPeople(_ people: StoredPeople) -> Int {
        let counts = people.counts
        var line = "\(storeFolder ?? ""): \(counts.subscribers.counted("subscriber"))"
        if let fault = counts.fault {
            line += ", \(counts.damaged.grouped) damaged; \(fault)"
        }
        Console.errors.offer(Array((Console.quoted(line) + "\n").utf8))
        return counts.damaged
    }

    /// Lines that the decision log has from earlier runs of a store; `nil` where nothing can be compared: a pipe gets new lines alone.
    private func recalledLines() throws(UsageError) -> RecalledLines? {
        guard storeFolder != nil, let path = decisionsPath, FileRoles.isRegular(path) else { return nil }
        return try RecalledLines(path)
    }

    private func write(_ replay: Replay, to states: OutputFile, _ patience: Duration?) -> [String] {
        var isRead = true
        replay.writeStates { if isRead { isRead = states.write($0, patience: patience) } }
        return isRead && states.flush(patience: patience) ? [] : [OutputError(states).description]
    }
}
