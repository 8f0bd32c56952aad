import Fanfare
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// A store in memory, of which a crash leaves what was synced: entries, people, and claims with completions and stamp ceilings, each apart.
///
/// Each batch of the real store is one transaction of LMDB, which is durable as a whole or not at all (`LMDBEnvironment.write`); only entries
/// of more than 16 MB are several, of which a crash may leave the first ones. So a torn write is the beginning of the last batch of entries,
/// durable although the engine has not heard so; an unheard write is all of it. `fanfare-power-loss` loses power inside transactions.
final class CrashDisk: CheckpointSink {
    private var losses: WriteLosses
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

    /// - Parameter seed: seed of torn writes; `nil` if a crash leaves nothing of a batch.
    init(tearing seed: UInt64? = nil) { losses = WriteLosses(tearing: seed) }

    /// Counts of writes and of what crashes have done to them.
    var counts: WorldCounts<CrashOccurrence> { losses.counts }

    /// Loses what was not synced, as a crash does, and counts it.
    ///
    /// - Returns: the number of entries of the last batch that are durable nevertheless.
    func crash() -> Int {
        let hasClaims = !requests.isEmpty || !completions.isEmpty || stampCeiling != nil
        let others = (peopleEntries.isEmpty ? 0 : 1) + (hasClaims ? 1 : 0)
        let kept = losses.crash(entries: entries.count, others: others)
        if kept > 0 { log.append(Array(entries.prefix(kept))) }
        entries = []
        return kept
    }

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
            losses.counts[.claims] += requests.count
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
