import FanfareDecisions
import FanfareLog
import FanfareModel

/// A store that an engine has opened, with what a start reads of it before the core exists.
struct OpenedStore {
    let log: any Log
    let cards: StoredCards
    let claims: any ClaimStore
    let earlier: EarlierProcess
    /// Bounds on the stamps of this process, reserved in the store.
    let stamps: StampCeiling

    /// - Parameters:
    ///   - firstApp: the engine's first app; `nil` if it pushes to none.
    ///   - report: receives lines for operators.
    init(
        _ choice: StoreChoice, _ options: EngineOptions, firstApp: AppID?, report: (String) -> Void
    ) throws {
        let log = try choice.open()
        cards = try choice.openPeople(beside: options.subscribers, firstApp: firstApp)
        var read: (any ClaimStore)?
        earlier = try EarlierProcess(log) { read = try choice.openClaims(into: &$0, report: report) }
        guard let claims = read else { preconditionFailure("an earlier process was read without its claims") }
        let bounds = OpenedStore.reserveStamps(in: claims, at: options.clock.wall(), report: report)
        stamps = StampCeiling(bounds, at: options.clock.monotonic())
        self.log = log
        self.claims = claims
    }

    /// Reserves stamps after those of the earlier process. The engine starts even if the disk takes nothing.
    private static func reserveStamps(
        in claims: any ClaimStore, at wall: FeedTime, report: (String) -> Void
    ) -> StampBounds {
        let last = claims.stampCeiling
        if let last, last - wall.milliseconds / 1000 > 60 {
            report(
                "the machine's clock is \(last - wall.milliseconds / 1000) s behind the stamps of the process before this one; check the clock"
            )
        }
        do throws(LogError) { return try claims.reserveStamps(at: wall) } catch {
            report("\(error); until it can be, a card with more than one state a second gets one a second")
            return StampBounds(floor: StampBounds(after: last, at: wall).floor, ceiling: 0)
        }
    }

    /// Lets the core decide the log's entries again, and notes since when claims are complete.
    ///
    /// - Parameters:
    ///   - logged: the same rules for the log.
    ///   - report: receives lines for operators.
    func recall(
        into core: EngineCore, under rules: Rules, _ logged: LogRules, wall: @escaping () -> FeedTime,
        report: @escaping (String) -> Void
    ) throws {
        core.keepAlerts()
        core.keepCompletions(earlier.completions)
        let unfinished = try core.recall(
            log, under: rules, logged, within: earlier.horizon(since: claims.start, wall: wall), report: report)
        if let line = earlier.report(unfinished, wall: wall()) { report(line) }
        // If this process dies before claims name the starts, the next process must not know the starts either.
        if !earlier.knowsStarts, cards.expectedCount > 0 { try claims.append([], .ofNoLog) }
        if claims.start == nil { try claims.begin(at: core.now) }
    }
}
