import CFanfareBench
import Fanfare
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import Foundation

/// Folder of a store, for as long as a closure runs.
struct TemporaryStore: Sendable {
    let folder: String
    /// Cards in a transaction, as in `fanfare people import`.
    private static let cardsPerTransaction = 10_000

    private init(_ folder: String) { self.folder = folder }

    /// Makes an empty store, calls the closure with it, and removes it.
    ///
    /// - Parameter parent: folder on a disk, in which the store's folder is made.
    static func make<Result>(in parent: String, _ body: (TemporaryStore) throws -> Result) throws -> Result {
        guard !bench_is_in_memory(parent) else {
            throw BenchmarkFault(
                "\(parent) is in memory, where nothing is durable; name a folder on a disk by --folder=")
        }
        let folder = parent + "/fanfare-bench-\(UUID().uuidString)"
        do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) } catch {
            throw BenchmarkFault("\(folder) cannot be made; name a folder that exists and can be written by --folder=")
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(TemporaryStore(folder))
    }

    /// Puts people into the store, as `fanfare people import` does with those of a file.
    ///
    /// - Parameter topic: returns the topic that a person's card shows.
    func importPeople(_ count: Int, showing topic: (Int) -> TopicID) throws {
        try importCards(of: count, in: { .topic(topic($0)) })
    }

    /// Puts people with other cards into the store.
    ///
    /// - Parameter audience: returns what a person's card shows.
    func importCards(of count: Int, in audience: (Int) -> AudienceKey) throws {
        let store = try LMDBPeopleStore(store: folder)
        let now = FeedTime(milliseconds: Clock.wallMilliseconds())
        for first in stride(from: 0, to: count, by: Self.cardsPerTransaction) {
            try store.apply(
                (first..<min(first + Self.cardsPerTransaction, count)).map {
                    .insert(Person($0).card(in: audience($0), since: now))
                })
        }
    }

    /// Calls the closure with each person's number and card; a row that cannot be read is a fault. No engine uses the store meanwhile.
    func readPeople(_ body: (Int, Card) throws -> Void) throws {
        let store = try LMDBPeopleStore(store: folder, isReadOnly: true)
        var fault: (any Error)?
        try store.read { (_, found) throws(LogError) in
            do {
                let card = try found.get()
                guard let person = Person(card) else { throw BenchmarkFault("the store has a card of nobody") }
                try body(person.number, card)
            } catch { fault = error }
            return fault == nil
        }
        if let fault { throw fault }
    }

    /// Makes all files durable, and asks the kernel to forget their pages.
    ///
    /// - Returns: bytes that are in the page cache all the same.
    func leavePageCache() throws -> Int {
        try files.reduce(0) { sum, path in
            let cached = bench_drop_pages(path)
            guard cached >= 0 else { throw BenchmarkFault("\(path): \(String(cString: strerror(errno)))") }
            return sum + Int(cached)
        }
    }

    /// Moves all checkpoints to a folder in which no engine looks.
    func setCheckpointsAside() throws {
        try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: false)
        for name in try checkpoints(in: folder) {
            try FileManager.default.moveItem(atPath: folder + "/" + name, toPath: aside + "/" + name)
        }
    }

    /// Puts the checkpoints that were set aside in the place of those that an engine has written since, and removes its claims. The log
    /// must still have all its entries.
    func putCheckpointsBack() throws {
        for name in try checkpoints(in: folder) + ["claims"] {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        for name in try checkpoints(in: aside) {
            try FileManager.default.moveItem(atPath: aside + "/" + name, toPath: folder + "/" + name)
        }
        let log = try LMDBLog(folder: folder, isReadOnly: true)
        guard log.start == 1 else { throw BenchmarkFault("the log has lost its entries before \(log.start)") }
    }

    private var aside: String { folder + "/aside" }

    private func checkpoints(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("checkpoint-") }
    }

    /// Bytes of all files.
    var bytes: Int {
        get throws {
            try files.reduce(0) { sum, path in
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
                return sum + ((size as? NSNumber)?.intValue ?? 0)
            }
        }
    }

    var files: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }.filter { path in
                var isFolder = ObjCBool(false)
                return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            }
        }
    }
}

/// A person with one card. All that belongs to the person follows from the number.
struct Person: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }

    /// Finds the person of a card; `nil` if the card is not of one.
    init?(_ card: Card) {
        let prefix = "card/"
        guard let activity = card.activity, activity.hasPrefix(prefix),
            let number = Int(activity.dropFirst(prefix.count)), card.subscriber == Person(number).subscriber.rawValue
        else { return nil }
        self.number = number
    }

    var subscriber: SubscriberID { SubscriberID("person/\(number)") }
    var activity: ActivityID { ActivityID("card/\(number)") }

    /// - Parameter edition: counts up with each new token of the card.
    func token(edition: Int = 0) -> [UInt8] { Fleet.token(UInt64(number) | UInt64(edition) << 32) }

    func card(in audience: AudienceKey, since: FeedTime) -> Card {
        Card(
            subscriber: subscriber.rawValue, activity: "card/\(number)", token: token(), audience: audience,
            startedAt: since)
    }
}

/// People of an engine that keeps them in no store.
struct UnstoredPeople: SubscriberSource {
    let expectedCount: Int
    /// Returns what a person's card shows.
    let audience: @Sendable (Int) -> AudienceKey

    func read(_ take: (Subscription) -> String?) throws {
        let now = FeedTime(milliseconds: Clock.wallMilliseconds())
        for number in 0..<expectedCount {
            let person = Person(number)
            let fault = take(
                Subscription(
                    audience: audience(number), activity: person.activity, subscriber: person.subscriber,
                    token: person.token(), startedAt: now))
            if let fault { throw BenchmarkFault("person \(number) is refused: \(fault)") }
        }
    }
}
