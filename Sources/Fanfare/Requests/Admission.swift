import FanfareFanOut

/// Immediate answer of the engine to a call that does not wait.
public enum Admission: Sendable, Hashable {
    /// The engine will carry out the command, even if the engine is stopped before that.
    case taken(Receipt)
    /// The engine has no room, and has taken nothing. `Engine.room(for:)` waits for room.
    case full
    /// The engine is stopping, or has stopped, and takes nothing more.
    case stopped
    /// The engine has taken nothing, and a repetition of the call does not help.
    case refused(Refusal)

    /// Is `true` if the engine carries out the call.
    public var isTaken: Bool { if case .taken = self { true } else { false } }

    /// Receipt of the call; `nil` if nothing was taken.
    public var receipt: Receipt? { if case .taken(let receipt) = self { receipt } else { nil } }

    /// Returns the receipt.
    ///
    /// - Throws: the reason why nothing was taken.
    public func get() throws(EngineError) -> Receipt {
        switch self {
        case .taken(let receipt): return receipt
        case .full: throw .full
        case .stopped: throw .stopped
        case .refused(let refusal): throw .refused(refusal)
        }
    }
}

/// Reason why the engine has not taken a call's command or question, or does not answer.
///
/// The four cases are the four things that a caller can do: try later, stop, give way, correct the call. `Refusal` says what to correct, and
/// can gain causes without breaking a `switch`.
///
/// Write `catch { switch error { … } }`: the compiler of Swift 6.3.1 crashes on `catch .refused(let refusal)` after an `await`.
public enum EngineError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There was no room within the caller's time limit. A call that repeats an idempotency key gets this error, too, if the engine had no room to
    /// remember the key until the first call was durable: repeat the call.
    case full
    /// The engine is stopping, or has stopped.
    case stopped
    /// The calling task was cancelled before the engine had room or an answer. The engine has taken nothing if the call waited for room.
    case cancelled
    /// The call can never be carried out.
    case refused(Refusal)

    /// Text of the error for people, in one line.
    public var description: String {
        switch self {
        case .full: "the engine has no room: it is behind"
        case .stopped: "the engine has been told to stop"
        case .cancelled: "the task was cancelled"
        case .refused(let refusal): refusal.description
        }
    }
}

/// Description of an invalid call.
public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// Part of the call that is invalid. Later versions may have more causes.
    public struct Cause: Sendable, Hashable {
        // The cause takes one byte, because every answer has room for one.
        private let code: UInt8

        /// An update or start token is empty or too long.
        public static let token = Cause(code: 0)
        /// A topic's id is empty or too long.
        public static let topic = Cause(code: 1)
        /// A lineup is empty, too long, or has a topic twice.
        public static let lineup = Cause(code: 2)
        /// The engine does not push to this app.
        public static let app = Cause(code: 3)
        /// An operator's order was passed as a correction.
        public static let correction = Cause(code: 4)
        /// A phone could not read the content state back.
        public static let contentState = Cause(code: 5)
        /// The idempotency key is that of another call with another content.
        public static let key = Cause(code: 6)
    }

    /// Cause for programs.
    public let cause: Cause
    /// Text for people, in one line: the bound and the value given.
    public let description: String

    /// Creates a refusal for a program's tests; the engine creates its own.
    public init(_ cause: Cause, _ description: String) {
        self.cause = cause
        self.description = description
    }

    init(_ fault: CommandFault) {
        let cause: Cause =
            switch fault.refusal {
            case .token: .token
            case .lineup: .lineup
            // Shards detect the last two faults later.
            case .topic, .tooManyTopics, .unknownActivity: .topic
            }
        self.init(cause, fault.description)
    }
}
