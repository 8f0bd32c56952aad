import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel

/// The store of an engine that serves: the queues to the store's threads, and what the core's thread keeps beside them.
struct EngineStore {
    let intake: Intake
    let commits: CommitQueue
    let people: PeopleQueue
    let claims: ClaimQueue
    let checkpoints: CheckpointQueue
    let checkpointer: Checkpointer
    /// Serial below which all cards have been loaded.
    private let serials: UInt64

    /// Begins to load the store's cards into the core's shards.
    init(
        _ opened: OpenedStore, _ core: EngineCore, _ rules: LogRules, _ options: EngineOptions, waitingMax: Int,
        loop: Loop
    ) throws {
        let (log, cards, earlier, wall) = (opened.log, opened.cards, opened.earlier, options.clock.wall())
        serials = cards.register.nextSerial
        let commits = try CommitQueue(log, loop: loop)
        self.commits = commits
        let people: PeopleQueue
        let (queues, apps, limits) = (core.loadingQueues, core.apps.ids, options.rules.limits)
        do {
            people = try PeopleQueue(cards.register, loop: loop) { retry in
                let distribution = LoadingDistribution(to: queues, apps: apps, limits: limits, now: wall)
                cards.load(distribution, after: earlier, retry: retry)
                for queue in queues.joined() { queue.finish() }
            }
        } catch {
            commits.close()
            throw error
        }
        self.people = people
        intake = Intake(
            waitingMax: waitingMax, isLoading: true, commit: { commits.append($0) }, write: { people.append($0) })
        func abandon() {
            // The thread that loads does not end while it waits for a shard.
            for queue in queues.joined() { queue.close() }
            people.close()
            commits.close()
        }
        let claims: ClaimQueue
        do { claims = try ClaimQueue(opened.claims, stamps: opened.stamps, loop: loop) } catch {
            abandon()
            throw error
        }
        self.claims = claims
        do {
            let checkpoints = try CheckpointQueue(log.checkpoints, loop: loop)
            self.checkpoints = checkpoints
            do {
                checkpointer = try Checkpointer(
                    core, log, sink: checkpoints, rules: rules,
                    interval: options.store?.checkpointInterval ?? Checkpointer.defaultInterval)
            } catch {
                checkpoints.close()
                throw error
            }
        } catch {
            claims.close()
            abandon()
            throw error
        }
        checkpointer.onTrim = { commits.trim(through: $0) }
        try checkpointer.trimBehindOlder(log)
        checkpoints.onEnd = { [checkpointer] in checkpointer.end($0) }
    }

    /// Meters of the store's parts.
    var meters: StoreMeters { StoreMeters(log: commits.meter, people: people.meter, claims: claims.meter) }

    /// Notes for any thread how many entries wait; called after each turn.
    func noteWaiting() { commits.meter.noteWaiting(intake.entriesWaiting) }

    /// Notes completions of topics in the store.
    func note(_ completions: [TopicCompletion], app: Int, of core: EngineCore) {
        let id = core.apps.id(of: app)
        let head = CompletionHead(position: checkpointer.decided, now: checkpointer.decidedAt)
        claims.change { changes in
            for completion in completions {
                let key = CompletionKey(birth: completion.publication.topic.birth, app: app, of: completion.scope)
                if completion.isVoid {
                    changes.forget(key)
                } else {
                    changes.note(StoredCompletion(completion, app: id, serials: serials), at: key, head)
                }
            }
        }
    }

    /// - Parameter checkpoint: time for the rows of a checkpoint that the disk has still to take.
    func close(within timeout: Duration = .seconds(5), checkpoint: Duration = .seconds(5)) {
        // The log closes last, because the folder's lock ends with it.
        claims.close(within: timeout)
        checkpoints.close(within: checkpoint)
        people.close(within: timeout)
        commits.close(within: timeout)
    }
}
