import FanfareLog
import FanfareModel

/// `fanfare log`: shows and checks the log of a store and makes a backup of the store, also while a replay writes to it, sets an entry aside, and
/// removes entries that no restart needs.
struct LogCommand {
    private enum Task { case show(from: LogPosition, count: Int), check, backup(to: String), skip(LogPosition), trim }

    private let task: Task
    private let folder: String

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var operands: [String] = []
        var from: LogPosition?
        var count: Int?
        while let word = try arguments.next() {
            switch word {
            case .option("--from"):
                from = try arguments.value("a position, from 1") { UInt64($0).flatMap { $0 > 0 ? $0 : nil } }
            case .option("--count"): count = try arguments.count(1...1_000_000_000)
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare log --help` lists them")
            case .operand(let operand): operands.append(operand)
            }
        }
        switch operands.first {
        case "show": task = .show(from: from ?? 1, count: count ?? .max)
        case "check":
            guard from == nil, count == nil else { throw UsageError("check: reads the whole log") }
            task = .check
        case "backup":
            guard from == nil, count == nil, operands.count == 3 else {
                throw UsageError("backup: expected the folder of a store, and a folder that is to be made")
            }
            task = .backup(to: operands.removeLast())
        case "trim":
            guard from == nil, count == nil else { throw UsageError("trim: removes all that no restart needs") }
            task = .trim
        case "skip":
            guard from == nil, count == nil, operands.count == 3,
                let position = UInt64(operands.removeLast()), position > 0
            else { throw UsageError("skip: expected a folder and the position of an entry, from 1") }
            task = .skip(position)
        case let other:
            throw UsageError(
                "\(other.map { "\($0): " } ?? "")expected show FOLDER, check FOLDER, backup FOLDER COPY, skip FOLDER POSITION, or trim FOLDER"
            )
        }
        guard operands.count == 2 else { throw UsageError("expected one folder of a store") }
        folder = operands[1]
    }

    func run() throws -> ExitStatus {
        do {
            switch task {
            case .show(let from, let count): return try show(open(), from: from, count: count)
            case .check: return try check(open())
            case .backup(let copy): return try backUp(to: copy)
            case .skip(let position): return try skip(position)
            case .trim: return try trim()
            }
        } catch let error as LogError {
            Console.complain("fanfare log: \(error)")
            return .incomplete
        }
    }

    private func open() throws(LogError) -> LMDBLog { try LMDBLog(folder: folder, isReadOnly: true) }

    private func backUp(to copy: String) throws -> ExitStatus {
        let backup = try StoreBackup(of: folder, in: copy)
        let entries =
            backup.end == 0
            ? "a log without entries"
            : "the entries \(Int(clamping: backup.start).grouped) to \(Int(clamping: backup.end).grouped)"
        try Console.print("copied \(entries)\(backup.hasPeople ? " and the people" : "")\n")
        return .done
    }

    private func skip(_ position: LogPosition) throws -> ExitStatus {
        let entry = try LMDBLog.skip(position, in: folder)
        if let notice = entry.skippedNotice { try Console.print(notice + "\n") }
        return .done
    }

    private func trim() throws -> ExitStatus {
        let (removed, checkpoint) = try LMDBLog.trim(folder)
        try Console.print(
            "removed \(Int(clamping: removed).grouped) entries; a restart begins with the checkpoint of entry \(Int(clamping: checkpoint).grouped)\n"
        )
        return .done
    }

    private func show(_ log: LMDBLog, from: LogPosition, count: Int) throws -> ExitStatus {
        var left = count
        var fault: OutputError?
        do throws(LogError) {
            try log.read(from: from) { (position, entry) in
                do throws(OutputError) {
                    try Console.print(entry.line(at: position))
                } catch {
                    fault = error
                    return false
                }
                left -= 1
                return left > 0
            }
        } catch {
            Console.complain("fanfare log: \(error)")
            return .incomplete
        }
        if let fault { throw fault }
        return .done
    }

    private func check(_ log: LMDBLog) throws -> ExitStatus {
        var tally = LogTally()
        do throws(LogError) {
            try log.read(from: 1) { (_, entry) in
                tally.note(entry)
                return true
            }
        } catch {
            Console.complain("fanfare log: \(error)\n\(tally.entries.grouped) entries before it are good")
            return .incomplete
        }
        var faults = try tally.note(checkpointsOf: log)
        do throws(LogError) { tally.claims = try ClaimFolder.check(store: folder) } catch {
            let loss = "; after a restart, alerts that had not reached everybody reach nobody else"
            faults.append("\(error)\(error.cause == .damaged ? loss : "")")
        }
        try Console.print(tally.text(faults: faults.count))
        for fault in faults { Console.complain("fanfare log: \(fault)") }
        return faults.isEmpty ? .done : .incomplete
    }

    static let help = """
        A store's log has the input of all decisions since its last checkpoints: feed events, pieces of a feed that could not be
        read, the passing of time, the end of a feed, and rules.

        usage: fanfare log show FOLDER [--from POSITION] [--count N]
               fanfare log check FOLDER
               fanfare log backup FOLDER COPY
               fanfare log skip FOLDER POSITION
               fanfare log trim FOLDER

          show             one line of JSON per entry
          --from POSITION  begins at this position (1)
          --count N        shows at most N entries
          check            reads every entry, checkpoint, claim and completion and their checksums, and counts the entries by kind
          backup           copies the store, also a running one, to a new folder COPY, which has tokens: its mode is 700. The
                           copy has the people, and no claims
          skip             sets an entry aside that is damaged or that the process cannot get past; its topic is paused in its
                           place. Stop the process that uses the store first
          trim             removes all entries before the newest checkpoint, also those that a running process keeps in case
                           that one is damaged. Stop the process first. `backup` makes a copy without the room

        Exit status: 0 good; 1 something is damaged or missing, an entry cannot be set aside, a log cannot be trimmed, the
        backup cannot be made, or the store cannot be opened, because it is damaged, missing, of a newer release or in use; 2 usage.

        examples:
          fanfare log check store
          fanfare log show store --from 1000 --count 10
          fanfare log backup store /var/backups/store-1
          fanfare log skip store 1003

        """
}

/// Number of a log's entries by kind.
struct LogTally {
    private(set) var entries = 0
    private var skipped = 0
    private var kinds: [String: Int] = [:]
    private var times: (first: FeedTime, last: FeedTime)?
    private var checkpoints: [LogPosition] = []
    /// Numbers of claims and completions; `nil` if the store has none.
    var claims: (claims: Int, completions: Int)?

    /// Reads the checkpoints.
    ///
    /// - Returns: a line about each that is damaged.
    mutating func note(checkpointsOf log: LMDBLog) throws(LogError) -> [String] {
        var faults: [String] = []
        for position in try log.checkpoints.positions().reversed() {
            do throws(LogError) {
                try log.checkpoints.read(at: position) { _ in }
                checkpoints.append(position)
            } catch {
                // The writing process may have replaced it.
                if try log.checkpoints.positions().contains(position) { faults.append("\(error)") }
            }
        }
        let (newest, _) = try log.newestCheckpoint {
            if faults.isEmpty { faults.append("\($0); the restart does without it") }
        }
        if newest == nil, log.start > 1 {
            faults.append(
                "the entries before \(log.start) were trimmed, and there is no checkpoint of what they led to: no process can go on with "
                    + "this store; restore it from a backup")
        }
        return faults
    }

    mutating func note(_ entry: LogEntry) {
        entries += 1
        if entry.skippedAt != nil { skipped += 1 }
        kinds[entry.kind, default: 0] += 1
        // The rules precede all times.
        if case .rules = entry.body { return }
        times = (times?.first ?? entry.now, entry.now)
    }

    /// Returns the line about a log each entry of which is good.
    ///
    /// - Parameter faults: number of faults beside the entries: of checkpoints, claims and completions.
    func text(faults: Int) -> String {
        let parts = kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.grouped)" }
        let span = times.map { "; from \($0.first) to \($0.last)" } ?? ""
        let aside = skipped == 0 ? "" : "; \(skipped.grouped) set aside"
        let positions = checkpoints.map { Int(clamping: $0).grouped }.joined(separator: " and ")
        let restarts = checkpoints.isEmpty ? "" : "; a checkpoint of entry \(positions)"
        let beside = claims.map { "; claims \($0.claims.grouped), completions \($0.completions.grouped)" } ?? ""
        let counted = "\(entries.grouped) entries (\(parts.joined(separator: ", ")))"
        let verdict = faults == 0 ? "good" : "faulty, \(faults.counted("fault")) beside good entries"
        return "\(verdict): \(counted)\(span)\(aside)\(restarts)\(beside)\n"
    }
}

extension LogEntry {
    fileprivate var kind: String {
        switch body {
        case .rules: "rules"
        case .event: "event"
        case .rejection: "rejection"
        case .tick: "tick"
        case .feedEnd: "feedEnd"
        }
    }

    /// The entry as one line of JSON. An event's values are left out, because they may be about people; the feed has them.
    func line(at position: LogPosition) -> String {
        var object: JSONObject = [
            "position": .int(Int64(clamping: position)), "now": .string("\(now)"), "kind": .string(kind),
        ]
        if skippedAt != nil { object["skipped"] = .bool(true) }
        if let key { object["key"] = .string(key.key.description) }
        if item > 0 { object["place"] = .int(Int64(clamping: item)) }
        switch body {
        case .rules(let text, let version):
            object["rules"] = .string(text)
            object["decisionVersion"] = .int(Int64(clamping: version))
        case .event(let event, _):
            object["topic"] = .string(event.topic.rawValue)
            object["at"] = .string("\(event.at)")
            object["event"] = .string(event.kind)
            if let id = event.id { object["id"] = .string(id) }
        case .rejection(let rejection):
            object["reason"] = .string("\(rejection.location): \(rejection.reason)")
        case .tick, .feedEnd: break
        }
        var bytes: [UInt8] = []
        JSONValue.object(object).write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }
}
