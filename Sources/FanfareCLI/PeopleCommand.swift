import FanfareFeeds
import FanfareLog
import FanfareLoop
import FanfareModel

/// `fanfare people`: brings people into a store, takes them out, counts, checks and removes them.
struct PeopleCommand {
    private enum Task: String, CaseIterable { case `import`, export, stats, prune, check, forget }

    private let task: Task
    private let folder: String
    /// File to import from or to export to; ids to forget.
    private let operands: [String]
    private let before: FeedTime?
    private let activities: [String]

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var operands: [String] = []
        var before: FeedTime?
        var activities: [String] = []
        while let word = try arguments.next() {
            switch word {
            case .option("--before"): before = try arguments.time()
            case .option("--activity"): activities.append(try arguments.text("an activity's id"))
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare people --help` lists them")
            case .operand(let operand): operands.append(operand)
            }
        }
        let names = Task.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = operands.first else { throw UsageError("expected one of \(names)") }
        guard let task = Task(rawValue: name) else { throw UsageError("\(name): expected one of \(names)") }
        guard operands.count > 1 else { throw UsageError("\(name): expected the folder of a store") }
        self.task = task
        folder = operands[1]
        self.operands = Array(operands.dropFirst(2))
        (self.before, self.activities) = (before, activities)
        guard before == nil || task == .prune else { throw UsageError("--before: \(name) does not take it") }
        guard activities.isEmpty || task == .forget else { throw UsageError("--activity: \(name) does not take it") }
        switch task {
        case .import, .export:
            guard operands.count == 3 else { throw UsageError("\(name): expected a folder and a file") }
        case .stats, .prune, .check:
            guard operands.count == 2 else { throw UsageError("\(name): expected one folder of a store") }
        case .forget:
            guard operands.count > 2 || !activities.isEmpty else {
                throw UsageError("forget: expected a subscriber's id, or --activity")
            }
        }
    }

    func run() throws -> ExitStatus {
        do {
            switch task {
            case .import: return try importCards()
            case .export: return try export()
            case .stats: return try stats()
            case .prune: return try prune()
            case .check: return try check()
            case .forget: return try forget()
            }
        } catch let error as LogError {
            return complain(error)
        }
    }

    private func open(isReadOnly: Bool) throws(LogError) -> LMDBPeopleStore {
        try LMDBPeopleStore(store: folder, isReadOnly: isReadOnly)
    }

    /// Opens people that exist, for changing them.
    private func openForChange() throws(LogError) -> LMDBPeopleStore {
        _ = try open(isReadOnly: true)
        return try open(isReadOnly: false)
    }

    private func complain(_ error: LogError, _ rest: String = "") -> ExitStatus {
        Console.complain(Console.quoted("fanfare people: \(error)") + rest)
        return .incomplete
    }

    // MARK: - Import and export

    private func importCards() throws -> ExitStatus {
        let file = try SubscriberFile(path: operands[0], report: { Console.complain(Console.quoted($0)) })
        var batch = CardBatch(try open(isReadOnly: false))
        let now = FeedTime(milliseconds: Clock.wallMilliseconds())
        var failure: LogError?
        do throws(FeedError) {
            try file.readNamed { (subscription, names) throws(FeedError) in
                do throws(LogError) {
                    try batch.add(.insert(Card(subscription, names, now: now)))
                    return nil
                } catch {
                    if error.isFinal { return "\(error)" }
                    failure = error
                    throw FeedError(path: folder, reason: "\(error)")
                }
            }
        } catch {
            guard failure == nil else {
                return complain(
                    failure ?? LogError(""),
                    "\nimported so far: \(batch.written.counted("card")). Import the file again when that is mended; `prune` "
                        + "removes what is there twice")
            }
            throw error
        }
        do throws(LogError) { try batch.write() } catch {
            return complain(error, "\nimported so far: \(batch.written.counted("card"))")
        }
        let broken = file.brokenLines
        try Console.print(
            "imported \(batch.written.counted("card"))"
                + (broken > 0 ? "; \(broken.grouped) broken lines were left out" : "") + "\n")
        return broken > 0 ? .incomplete : .done
    }

    private func export() throws -> ExitStatus {
        let store = try open(isReadOnly: true)
        let file = try SecretFile(path: operands[0])
        let output = file.output
        var tally = ExportTally()
        var bytes: [UInt8] = []
        do throws(LogError) {
            try store.read { (key, found) throws(LogError) in
                tally.write(found, key, to: &bytes)
                guard bytes.count >= 1 << 16 else { return true }
                output.write(bytes)
                bytes.removeAll(keepingCapacity: true)
                return output.failure == nil
            }
        } catch {
            file.abandon()
            return complain(error)
        }
        output.append(bytes)
        try file.finish()
        // The tally goes to standard error, because standard output may have the cards.
        Console.complain(tally.text)
        return tally.isWhole ? .done : .incomplete
    }

    // MARK: - Counting and checking

    private func stats() throws -> ExitStatus {
        let store = try open(isReadOnly: true)
        var tally = PeopleTally()
        do throws(LogError) {
            try store.read { (_, found) throws(LogError) in
                tally.note(found)
                return true
            }
        } catch {
            return complain(error)
        }
        try Console.print(Console.quoted(lines: tally.text))
        return tally.damaged == 0 ? .done : .incomplete
    }

    private func check() throws -> ExitStatus {
        let store = try open(isReadOnly: true)
        var faults = RowFaults()
        var good = 0
        do throws(LogError) {
            try store.read { (key, found) throws(LogError) in
                if case .failure(let error) = found { faults.note(error, key) } else { good += 1 }
                return true
            }
        } catch {
            return complain(error, "\ngood before it: \(good.counted("card"))")
        }
        guard faults.count == 0 else {
            Console.complain("good: \(good.counted("card")), damaged: \(faults.count.grouped)")
            return .incomplete
        }
        try Console.print("good: \(good.counted("card"))\n")
        return .done
    }

    // MARK: - Removing

    private func prune() throws -> ExitStatus {
        var batch = CardBatch(try openForChange())
        let pruning = Pruning(before: before, now: FeedTime(milliseconds: Clock.wallMilliseconds()))
        var (over, repeated) = (0, 0)
        var faults = RowFaults()
        do throws(LogError) {
            for slice in 0..<Card.slices {
                try pruning.judge(slice: slice, of: batch.store) { (key, found) throws(LogError) in
                    switch found {
                    case .failure(let error): faults.note(error, key)
                    case .success(.isReplaced?):
                        repeated += 1
                        try batch.add(.remove(key))
                    case .success(.isOver?):
                        over += 1
                        try batch.add(.remove(key))
                    case .success(.none): break
                    }
                }
                try batch.write()
            }
        } catch {
            return complain(error, "\nremoved so far: \(batch.written.counted("card"))")
        }
        try Console.print(
            "removed \(batch.written.counted("card")): \(over.grouped) that began before \(pruning.before), \(repeated.grouped) that a "
                + "later one replaces\n")
        return faults.count == 0 ? .done : .incomplete
    }

    private func forget() throws -> ExitStatus {
        var batch = CardBatch(try openForChange())
        let subscribers = Set(operands)
        let activities = Set(activities)
        // A subscriber's cards are in one slice; an activity's may be in any.
        let slices =
            activities.isEmpty ? Set(operands.map { Card.slice(ofSubscriber: $0, token: []) }) : Set(0..<Card.slices)
        var faults = RowFaults()
        do throws(LogError) {
            for slice in slices.sorted() {
                try batch.store.read(slice: slice, from: 0) { (key, found) throws(LogError) in
                    switch found {
                    case .failure(let error): faults.note(error, key)
                    case .success(let card):
                        let isNamed =
                            card.subscriber.map(subscribers.contains) == true
                            || card.activity.map(activities.contains) == true
                        if isNamed { try batch.add(.remove(key)) }
                    }
                    return true
                }
            }
            try batch.write()
            // A removed card's changes must not stay in the buffer of changes either.
            try batch.store.merge()
        } catch {
            return complain(error, "\nremoved so far: \(batch.written.counted("card"))")
        }
        try Console.print("forgot \(batch.written.counted("card"))\n")
        return faults.count == 0 ? .done : .incomplete
    }

    static let help = """
        A store's people are the cards on their phones: the topic or lineup of each card, its token, and the person's
        preferences. Files have a line per card, like those of `fanfare replay --subscribers`.

        usage: fanfare people import FOLDER FILE
               fanfare people export FOLDER FILE
               fanfare people stats FOLDER
               fanfare people prune FOLDER [--before TIME]
               fanfare people check FOLDER
               fanfare people forget FOLDER SUBSCRIBER… [--activity ID]…

          import           adds the cards of a file or a pipe, such as /dev/stdin
          export           writes all cards that are shown, tokens included, to a file of mode 600, which replaces a former one
                           when it is whole; `-`: standard output
          stats            counts cards by phase and app
          prune            removes cards that are over, and those that a later card of the same activity replaces
          --before TIME    a card that began earlier is over (twelve hours ago), but no card whose start waits for less
                           than seven days
          check            reads every row and its checksum
          forget           removes the cards of subscribers, by their ids in the file
          --activity ID    removes the cards of an activity; may be repeated

        Stop the process that uses the store before `import`, `prune` and `forget`; `export`, `stats` and `check` may run beside it.
        To remove a person while an engine runs, call its `unfollow`, which also ends the card on the phone.

        Exit status: 0 good; 1 lines were left out, a row is damaged, something could not be written, or the store cannot be opened,
        because it is damaged, missing, of a newer release or in use; 2 usage.

        examples:
          fanfare people import store subscribers.txt
          fanfare people forget store anna

        """
}

extension Card {
    /// - Parameter now: beginning of a card whose line does not say when it began.
    init(_ subscription: Subscription, _ names: SubscriberNames, now: FeedTime) {
        self.init(
            subscriber: names.subscriber, activity: names.activity, token: subscription.token,
            audience: subscription.audience, startedAt: subscription.startedAt ?? now)
        preferences = subscription.preferences
        app = subscription.app
    }
}

/// Changes on their way to a store, written in transactions of a bounded size.
private struct CardBatch {
    let store: LMDBPeopleStore
    private var changes: [PeopleChange] = []
    private(set) var written = 0
    /// A transaction of ten thousand cards costs little more than its sync, and takes some 2 MB.
    private static let changesMax = 10_000

    init(_ store: LMDBPeopleStore) { self.store = store }

    mutating func add(_ change: PeopleChange) throws(LogError) {
        try change.check()
        changes.append(change)
        if changes.count == CardBatch.changesMax { try write() }
    }

    mutating func write() throws(LogError) {
        guard !changes.isEmpty else { return }
        try store.apply(changes)
        written += changes.count
        changes.removeAll(keepingCapacity: true)
    }
}
