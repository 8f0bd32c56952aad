import FanfareFanOut

/// What the engine answers at once to a call that does not wait.
public enum Admission: Sendable, Hashable {
    /// The engine will carry it out, also when it is stopped meanwhile.
    case taken(Receipt)
    /// There is no room: nothing was taken. `Engine.room()` waits until there is some.
    case full
    /// The engine has been told to stop: nothing is taken any more.
    case stopped
    /// Nothing was taken, and trying again does not help.
    case refused(Refusal)

    /// Whether the engine carries out what it was given.
    public var isTaken: Bool { if case .taken = self { true } else { false } }

    /// `nil` where nothing was taken.
    public var receipt: Receipt? { if case .taken(let receipt) = self { receipt } else { nil } }

    /// - Throws: why nothing was taken.
    public func get() throws(EngineError) -> Receipt {
        switch self {
        case .taken(let receipt): return receipt
        case .full: throw .full
        case .stopped: throw .stopped
        case .refused(let refusal): throw .refused(refusal)
        }
    }
}

/// Why the engine has not taken what a call brought, or does not answer.
///
/// One type with four cases, because there are four things a caller can do: try later, stop, give way, mend the call. What there is to mend
/// is a `Refusal`, which may learn more causes without breaking a `switch`.
///
/// Write `catch { switch error { … } }`: on `catch .refused(let refusal)` after an `await` the compiler of Swift 6.3.1 crashes.
public enum EngineError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There was no room for as long as the caller wanted to wait.
    case full
    /// The engine has been told to stop.
    case stopped
    /// The calling task was cancelled before the engine had room, or an answer. Where the call waited for room nothing was taken.
    case cancelled
    /// The call can never be carried out.
    case refused(Refusal)

    /// The error in one line for people.
    public var description: String {
        switch self {
        case .full: "the engine has no room: it is behind"
        case .stopped: "the engine has been told to stop"
        case .cancelled: "the task was cancelled"
        case .refused(let refusal): refusal.description
        }
    }
}

/// What is wrong with a call.
public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// What of the call has to be another one. A later version may know more of them.
    public struct Cause: Sendable, Hashable {
        // Small, because every answer has room for one.
        private let code: UInt8

        /// An update or start token is empty or too long.
        public static let token = Cause(code: 0)
        /// A topic's id is empty or too long.
        public static let topic = Cause(code: 1)
        /// A lineup is empty, too long, or has a topic twice.
        public static let lineup = Cause(code: 2)
        /// The engine does not push to this app.
        public static let app = Cause(code: 3)
        /// An operator's order stands where a correction is expected.
        public static let correction = Cause(code: 4)
        /// A phone could not read the content state back.
        public static let contentState = Cause(code: 5)
    }

    /// For programs.
    public let cause: Cause
    /// For people, in one line: the bound and what was given.
    public let description: String

    /// For programs that make up refusals, as tests do.
    public init(_ cause: Cause, _ description: String) {
        self.cause = cause
        self.description = description
    }

    init(_ fault: CommandFault) {
        let cause: Cause =
            switch fault.refusal {
            case .token: .token
            case .lineup: .lineup
            // The last two are found out by shards, later.
            case .topic, .tooManyTopics, .unknownActivity: .topic
            }
        self.init(cause, fault.description)
    }
}
