import Fanfare
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// A store in memory, of which a crash leaves what was synced: entries, people, and claims with completions and stamp ceilings, each apart.
///
/// A crash leaves no part of a batch. Each batch of the real store is one transaction of LMDB, which is durable as a whole or not at all
/// (`LMDBEnvironment.write`); only entries of more than 16 MB are several. `fanfare-power-loss` loses power inside transactions.
final class CrashDisk: CheckpointSink {
    let log = MemoryLog()
    private(set) var claims = MemoryClaims()
    let people = MemoryPeopleStore()
    private(set) var register = PeopleRegister(MemoryPeopleStore())
    private var entries: [LogEntry] = []
    private var peopleEntries: [PeopleEntry] = []
    private var completions = CompletionChanges()
    private var stampCeiling: Int64?
    private(set) var stamps = StampCeiling()
    private var requests: [(claims: StoredClaims, ticket: UInt64, shard: Int)] = []
    private(set) var intake = Intake(commit: { _ in }, write: { _ in })
    private var isFinishing = false
    var onCheckpoint: (Result<LogPosition, LogError>) -> Void = { _ in }
    var onClaimed: (UInt64, Int) -> Void = { _, _ in }

    /// Begins a life: what was not synced is lost.
    ///
    /// - Parameter firstApp: the first app of the life's engine.
    func restart(at clock: ManualClock, firstApp: AppID?) throws {
        stampCeiling = nil
        let wall = clock.source.wall()
        stamps = StampCeiling(try claims.reserveStamps(at: wall), at: clock.now)
        (entries, peopleEntries, requests, isFinishing) = ([], [], [], false)
        completions = CompletionChanges()
        register = PeopleRegister(people, firstApp: firstApp)
        abandon()
        intake = Intake(
            isLoading: true, commit: { [unowned self] in entries = $0 }, write: { [unowned self] in peopleEntries = $0 }
        )
    }

    /// Loses the folder of claims between two lives, as where a backup is restored.
    func loseClaims() { claims = MemoryClaims() }

    func change(_ change: (inout CompletionChanges) -> Void) { change(&completions) }
    func reserve(stampsThrough ceiling: Int64) { stampCeiling = max(stampCeiling ?? ceiling, ceiling) }

    func claim(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) { requests.append((claims, ticket, shard)) }

    /// Parts of a store, of which each is written by a thread of its own.
    enum Part: CaseIterable { case log, people, claims }

    /// - Returns: whether anything has become durable.
    func sync(_ part: Part) -> Bool {
        switch part {
        case .claims:
            guard !requests.isEmpty || !completions.isEmpty || stampCeiling != nil else { return false }
            claims.append(requests.map(\.claims), completions, stampCeiling: stampCeiling)
            if let ceiling = stampCeiling.take() { stamps.raise(to: ceiling) }
            completions = CompletionChanges()
            let answers = requests
            requests = []
            for answer in answers { onClaimed(answer.ticket, answer.shard) }
        case .people:
            guard !peopleEntries.isEmpty else { return false }
            do { try register.apply(peopleEntries) } catch { preconditionFailure("a store in memory fails: \(error)") }
            peopleEntries = []
            intake.rowsAreDurable(kept: register.kept)
        case .log:
            if isFinishing {
                isFinishing = false
                onCheckpoint(.success(log.memoryCheckpoints.finish()))
            }
            guard !entries.isEmpty else { return false }
            let first = log.end + 1
            log.append(entries)
            entries = []
            intake.entriesAreDurable(from: first)
        }
        return true
    }

    var isFull: Bool { false }
    func begin(_ head: CheckpointHead) { log.memoryCheckpoints.begin(head) }
    func append(_ rows: [[UInt8]]) { log.memoryCheckpoints.append(rows) }
    func abandon() { log.memoryCheckpoints.abandon() }
    func finish() { isFinishing = true }
}

extension MemoryLog {
    /// Its checkpoints, which are in memory.
    var memoryCheckpoints: MemoryCheckpoints { checkpoints as! MemoryCheckpoints }  // as `MemoryLog` makes them
}
