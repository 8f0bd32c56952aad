import FanfareLog
import FanfareModel

/// A log that marks when it commits and when it is read.
final class MarkedLog: Log {
    private let log: any Log
    private let marks: PhaseMarks
    let checkpoints: any CheckpointStore

    init(_ log: any Log, _ marks: PhaseMarks) {
        (self.log, self.marks) = (log, marks)
        checkpoints = MarkedCheckpoints(log.checkpoints, marks)
    }

    var end: LogPosition { log.end }
    var start: LogPosition { log.start }
    var notices: [String] { log.notices }

    func append(_ entries: [LogEntry]) throws(LogError) {
        try marks.during(.entries) { () throws(LogError) in try log.append(entries) }
    }

    func read(
        from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
    ) throws(LogError) {
        try marks.during(.recall) { () throws(LogError) in try log.read(from: position, body) }
    }

    func checksum(at position: LogPosition) throws(LogError) -> UInt32? { try log.checksum(at: position) }
    func trim(through position: LogPosition) { log.trim(through: position) }
    func noteDeciding(_ position: LogPosition?) { log.noteDeciding(position) }
    func noticesOfSkipped(through position: LogPosition) -> [String] { log.noticesOfSkipped(through: position) }
    func close() { log.close() }
}

/// Checkpoints that mark from the beginning of one to its end.
///
/// `Sendable` is unchecked because `CheckpointStore` confines it to one thread at a time.
private final class MarkedCheckpoints: CheckpointStore, @unchecked Sendable {
    private let store: any CheckpointStore
    private let marks: PhaseMarks
    private var isWriting = false {
        didSet { if isWriting != oldValue { marks.add(isWriting ? 1 : -1, to: .checkpoint) } }
    }

    init(_ store: any CheckpointStore, _ marks: PhaseMarks) { (self.store, self.marks) = (store, marks) }

    func positions() throws(LogError) -> [LogPosition] { try store.positions() }
    func head(at position: LogPosition) throws(LogError) -> CheckpointHead { try store.head(at: position) }
    func read(at position: LogPosition, _ body: ([UInt8]) throws(LogError) -> Void) throws(LogError) {
        try marks.during(.recall) { () throws(LogError) in try store.read(at: position, body) }
    }
    func disregard(_ positions: [LogPosition]) { store.disregard(positions) }

    func begin(_ head: CheckpointHead) throws(LogError) {
        isWriting = true
        try store.begin(head)
    }
    func append(_ rows: [[UInt8]]) throws(LogError) { try store.append(rows) }
    func finish() throws(LogError) -> LogPosition {
        defer { isWriting = false }
        return try store.finish()
    }
    func abandon() {
        store.abandon()
        isWriting = false
    }
}

/// People that mark when their rows are committed, and when they are loaded.
final class MarkedPeople: PeopleStore {
    private let store: any PeopleStore
    private let marks: PhaseMarks

    init(_ store: any PeopleStore, _ marks: PhaseMarks) { (self.store, self.marks) = (store, marks) }

    var position: LogPosition { store.position }
    var nextSerial: UInt64 { store.nextSerial }

    func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
        try marks.during(.people) { () throws(LogError) in try store.apply(changes, upTo: position) }
    }
    func card(_ key: CardKey) throws(LogError) -> Card? { try store.card(key) }
    func count(slice: Int) throws(LogError) -> Int { try store.count(slice: slice) }
    func read(
        slice: Int, from serial: UInt64,
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError) {
        try marks.during(.loading) { () throws(LogError) in try store.read(slice: slice, from: serial, body) }
    }
}

/// Claims that mark when they are committed.
final class MarkedClaims: ClaimStore {
    private let store: any ClaimStore
    private let marks: PhaseMarks

    init(_ store: any ClaimStore, _ marks: PhaseMarks) { (self.store, self.marks) = (store, marks) }

    var start: FeedTime? { store.start }
    func begin(at start: FeedTime) throws(LogError) { try store.begin(at: start) }
    var stampCeiling: Int64? { store.stampCeiling }
    func append(_ claims: [StoredClaims], _ changes: CompletionChanges, stampCeiling: Int64?) throws(LogError) {
        try marks.during(.claims) { () throws(LogError) in
            try store.append(claims, changes, stampCeiling: stampCeiling)
        }
    }
    func read(_ body: (StoredClaims) -> Void) throws(LogError) { try store.read(body) }
    func readCompletions(_ body: (CompletionKey, StoredCompletion) -> Void) throws(LogError) -> CompletionHead? {
        try store.readCompletions(body)
    }
    func close() { store.close() }
}
