import FanfareDecisions
import FanfareLog
import FanfareModel
import FanfareQueues

/// Makes of each request what the intake holds: an entry of the log, a change of a card, or the request as it is. Confined to the core's thread.
final class EntryMaker {
    private let intake: Intake
    private let inbox: Inbox
    private let keyed: KeyedCalls
    /// Earliest time of the next entry that only advances time.
    private(set) var nextTick = MonotonicTime.always

    /// Least time between two entries that only advance time. Timers still fire at their own deadlines.
    private static let tickInterval = Duration.milliseconds(100)
    /// Greatest size of an event, far above a feed's line and below the log's limit: an event that the log refused would hold up all later entries.
    static let eventSizeMax = ByteCount.mebibytes(16)
    /// Characters of an event's name in a rejection.
    private static let locationMax = 200

    /// - Parameter inbox: the requests come from its mailbox, where the last one that was taken has its number.
    init(_ intake: Intake, _ inbox: Inbox, _ keyed: KeyedCalls) {
        (self.intake, self.inbox, self.keyed) = (intake, inbox, keyed)
    }

    /// Holds the request that was taken from the mailbox last.
    ///
    /// - Parameters:
    ///   - now: log time.
    ///   - wall: time of the wall clock.
    func hold(_ request: CoreRequest, _ now: FeedTime, wall: FeedTime) {
        hold(request, nil, under: nil, now, wall)
    }

    private func hold(
        _ request: CoreRequest, _ acknowledge: EntryAcknowledgement?, under key: CallKey?, _ now: FeedTime,
        _ wall: FeedTime
    ) {
        switch request {
        case .acknowledged(let request, let acknowledge): hold(request, acknowledge, under: key, now, wall)
        case .keyed(let key, let request, let answer): hold(request, under: key, answer, now, wall)
        case .person(let entry, let request, let acknowledge):
            intake.hold(
                Intake.Change(entry: entry, request: request, acknowledge: acknowledge),
                handedIn: inbox.requests.popped)
        case .event(let event): intake.hold(entry(of: event, under: key, now, wall: wall), acknowledge)
        case .eventNow(let make):
            let event = FeedEvent(happening: make, at: now, wall: wall)
            intake.hold(entry(of: event, under: key, now, wall: event.at == now ? nil : wall), acknowledge)
        default: intake.hold(request)
        }
    }

    // MARK: Keys

    private func hold(
        _ request: CoreRequest, under key: CallKey, _ answer: KeyedAcknowledgement?, _ now: FeedTime, _ wall: FeedTime
    ) {
        switch keyed.find(key, answer, at: now, position: inbox.requests.popped, isDecided: false) {
        case .new: hold(request, asFirstOf: key, answer, now, wall)
        // The repeated call waits after the entry of the first call, so its answer comes once that entry is durable. An entry that is not held yet
        // makes it wait once more (`CoreTurn`).
        case .repeated(let call):
            intake.hold(.repeated(call, answer, isChange: request.changesCard))
        case .differs: if request.changesCard { inbox.noteChanged() }
        }
    }

    /// Makes a call an entry with its key.
    private func hold(
        _ request: CoreRequest, asFirstOf key: CallKey, _ answer: KeyedAcknowledgement?, _ now: FeedTime,
        _ wall: FeedTime
    ) {
        let acknowledge: EntryAcknowledgement = { entry in answer?(entry.map { .taken($0) } ?? .stopped) }
        switch request {
        case .event, .eventNow: hold(request, acknowledge, under: key, now, wall)
        // A change of a card makes no entry of the log, but its key does.
        case .person(let entry, let change, _):
            intake.hold(
                Intake.Change(
                    entry: entry, request: change, acknowledge: nil,
                    key: (
                        LogEntry(now: now, key: key, .tick),
                        { entry, isKept in
                            answer?(entry.map { .taken(isKept ? $0 : nil) } ?? .stopped)
                        }
                    )), handedIn: inbox.requests.popped)
        default:
            hold(request, nil, under: nil, now, wall)
            intake.hold(LogEntry(now: now, key: key, .tick), acknowledge)
        }
    }

    // MARK: Entries

    /// Returns an event's entry; its rejection if no log reads it back or takes it. No feed reader accepts such an event either.
    private func entry(of event: FeedEvent, under key: CallKey?, _ now: FeedTime, wall: FeedTime?) -> LogEntry {
        func rejected(_ reason: String) -> LogEntry {
            let location = String("event \(event.id ?? event.kind)".prefix(EntryMaker.locationMax))
            return LogEntry(
                now: now, key: key,
                .rejection(FeedRejection(location: location, reason: reason, topic: event.topic, at: event.at)))
        }
        guard event.isNested(within: LogEntry.depthMax) else {
            return rejected("its values are nested more than \(LogEntry.depthMax) deep")
        }
        let entry = LogEntry(now: now, key: key, .event(event, wall: wall))
        guard entry.bytes(at: 0).count <= EntryMaker.eventSizeMax.bytes else {
            return rejected("it has more than \(EntryMaker.eventSizeMax.bytes >> 20) MB")
        }
        return entry
    }

    /// Advances log time by an entry if a timer is due and no request has come: only entries advance log time.
    ///
    /// - Parameters:
    ///   - due: deadline of the next timer; `nil` without any.
    ///   - now: log time.
    func tick(due: FeedTime?, _ now: FeedTime, at clock: MonotonicTime) {
        guard let due, due <= now, clock >= nextTick, !intake.hasReady, !intake.isCommittingEntries, !intake.holdsEntry
        else { return }
        nextTick = clock + EntryMaker.tickInterval
        intake.hold(LogEntry(now: now.isPlausible ? now : due, .tick), nil)
    }
}
