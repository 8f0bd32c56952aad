package import FanfareLog
import FanfareModel

/// Place in which an engine keeps its feeds and people, so that a later engine continues where this one stopped.
///
/// The store keeps feed events, orders, corrections, and the activities of `follow` and `start` with all that changes them. Activities of
/// `Engine.Options.subscribers` are not in the store until they are followed.
public struct StoreChoice: Sendable {
    enum Place: Sendable {
        case folder(String)
        /// Log, people and claims that a test makes.
        case log(any Log, any PeopleStore = MemoryPeopleStore(), any ClaimStore = MemoryClaims())
    }

    let place: Place
    /// Version of the program's own decisions. Increment it with each release whose own code decides anything differently: a reducer, or rules that a
    /// rules file cannot express. The next engine then sends people the states that it decides differently.
    public var decisionVersion: UInt32 = 0
    /// Number of entries between two checkpoints, at least.
    package var checkpointInterval = Checkpointer.defaultInterval

    /// Keeps everything in a folder, which is created with mode 700 if it is missing. One process uses a folder at a time.
    public static func folder(_ path: String) -> StoreChoice { StoreChoice(place: .folder(path)) }

    /// Keeps everything in a log, people and claims that the caller has opened and may watch.
    package static func parts(log: any Log, people: any PeopleStore, claims: any ClaimStore) -> StoreChoice {
        StoreChoice(place: .log(log, people, claims))
    }

    func open() throws -> any Log {
        switch place {
        case .folder(let path): try LMDBLog(folder: path)
        case .log(let log, _, _): log
        }
    }

    /// Opens the store's claims and reads them, and the completions.
    ///
    /// - Parameter report: receives lines for operators.
    func openClaims(
        into deliveries: inout EarlierProcess.Deliveries, report: (String) -> Void
    ) throws -> any ClaimStore {
        switch place {
        case .folder(let path):
            return try ClaimFolder.opened(store: path, report: report) { (folder) throws(LogError) in
                try deliveries.read(folder)
            }
        case .log(_, _, let claims):
            try deliveries.read(claims)
            return claims
        }
    }

    /// - Parameters:
    ///   - others: activities that the program hands in beside the store's.
    ///   - firstApp: the engine's first app; `nil` if it pushes to none.
    func openPeople(beside others: (any SubscriberSource)?, firstApp: AppID?) throws -> StoredCards {
        let store: any PeopleStore =
            switch place {
            case .folder(let path): try LMDBPeopleStore(store: path)
            case .log(_, let people, _): people
            }
        return try StoredCards(PeopleRegister(store, firstApp: firstApp), beside: others)
    }
}

/// Reason why an engine cannot go on with a store: `EngineFault.underlying`.
public struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Cause of a fault, for programs. Later versions may have more causes.
    public struct Cause: Sendable, Hashable {
        private let code: UInt8

        /// Another engine or process uses the folder.
        public static let inUse = Cause(code: 0)
        /// A newer release has written the folder.
        public static let newerRelease = Cause(code: 1)
        /// The folder has rules that this program cannot read.
        public static let otherRules = Cause(code: 2)
        /// The folder's bytes were damaged or are incomplete.
        public static let damaged = Cause(code: 4)
        /// The system refuses to create, read or write the folder.
        public static let system = Cause(code: 5)
    }

    /// Cause for programs.
    public let cause: Cause
    /// Text for people, in one line: the folder, what is wrong and what to do.
    public let description: String

    init(_ error: LogError) {
        cause =
            switch error.cause {
            case .inUse: .inUse
            case .newerRelease: .newerRelease
            case .otherRules: .otherRules
            case .damaged: .damaged
            case .system, .entry: .system
            }
        description = error.description
    }
}
