import FanfareLog
import FanfareModel

@testable import CrashSimulation
@testable import Fanfare

/// Disk of an engine in one thread: entries and checkpoints are durable when a test lets it sync.
final class ManualDisk: CheckpointSink {
    private(set) lazy var intake = makeIntake()
    /// Entries of the commit that waits for a sync.
    private(set) var waiting: [LogEntry] = []
    /// Rows of the commit that waits for a sync. The disk keeps none of them.
    private(set) var rows: [PeopleEntry] = []
    private(set) var durable: [LogEntry] = []
    /// Entries that are durable, and checkpoints.
    let log = MemoryLog()
    private var random: SplitMix64
    /// Called when a checkpoint is durable.
    var onCheckpoint: (Result<LogPosition, LogError>) -> Void = { _ in }
    private var ended: Result<LogPosition, LogError>?

    init(seed: UInt64 = 0) { random = SplitMix64(seed: seed) }

    private func makeIntake() -> Intake {
        Intake(
            commit: { [unowned self] entries in
                precondition(waiting.isEmpty && !entries.isEmpty, "entries are being made durable")
                waiting = entries
            },
            write: { [unowned self] changes in
                precondition(rows.isEmpty && !changes.isEmpty, "rows are being made durable")
                rows = changes
            })
    }

    /// Loses power: what waits for a sync is lost.
    func crash() {
        (waiting, rows, ended, isStuck) = ([], [], nil, false)
        store.abandon()
        intake = makeIntake()
    }

    /// Claims that wait for a sync, those that are durable, and the answers that the core has not heard.
    private var claims: [(claims: StoredClaims, ticket: UInt64, shard: Int)] = []
    let claimed = MemoryClaims()
    private var confirmed: [(ticket: UInt64, shard: Int)] = []

    func claim(_ new: StoredClaims, _ ticket: UInt64, shard: Int) { claims.append((new, ticket, shard)) }

    /// Answers for the core's shards.
    func takeConfirmed() -> [(ticket: UInt64, shard: Int)] {
        defer { confirmed = [] }
        return confirmed
    }

    /// Returns whether a durable claim names the activity for an alert that was granted then.
    func isClaimed(_ mark: ActivityMark, of topic: TopicID, app: AppID?, grantedAt: FeedTime) -> Bool {
        claimed.claims.contains { stored in
            stored.app == app
                && stored.claims.contains {
                    $0.topic == topic && $0.through >= grantedAt && $0.activities.contains(mark)
                }
        }
    }

    /// A stuck disk never syncs.
    var isStuck = false
    private var numbers: [TopicID: UInt64] = [:]

    /// - Returns: whether anything has become durable that the core waits for.
    func sync() -> Bool {
        if !isStuck, let ended = ended.take() { onCheckpoint(ended) }
        let hasClaims = !claims.isEmpty && !isStuck
        if hasClaims {
            claimed.append(claims.map(\.claims), CompletionChanges())
            confirmed += claims.map { ($0.ticket, $0.shard) }
            claims = []
        }
        guard !isStuck else { return hasClaims }
        let hasRows = syncRows()
        guard !waiting.isEmpty else { return hasClaims || hasRows }
        let first = log.end + 1
        durable += waiting
        log.append(waiting)
        for case .event(let event, _) in waiting.map(\.body) {
            numbers[event.topic] = max(numbers[event.topic] ?? 0, event.seq ?? 0)
        }
        waiting = []
        intake.entriesAreDurable(from: first)
        return true
    }

    /// Is `false` if the disk takes no rows.
    var keepsRows = true

    private func syncRows() -> Bool {
        guard !rows.isEmpty, keepsRows else { return false }
        let kept = rows.map { _ in true }
        rows = []
        intake.rowsAreDurable(kept: kept)
        return true
    }

    /// Returns whether the topic's event with that sequence number, or a later one, is durable.
    func hasDurable(_ number: Int, of topic: TopicID) -> Bool { numbers[topic] ?? 0 >= UInt64(number) }

    // MARK: CheckpointSink

    private var store: MemoryCheckpoints { log.memoryCheckpoints }
    var isFull: Bool { random.next() % 4 == 0 }
    func begin(_ head: CheckpointHead) { store.begin(head) }
    func append(_ rows: [[UInt8]]) { store.append(rows) }
    func abandon() { store.abandon() }
    func finish() {
        if random.next() % 8 == 0 {
            store.abandon()
            ended = .failure(LogError("the disk is full"))
        } else {
            ended = .success(store.finish())
        }
    }
}
