import FanfareDecisions
import FanfareFanOut
import FanfareModel
import FanfareQueues
package import FanfareTestSupport

/// Feed, decision core, shards and a network of phones in one thread, driven by one seed. Every random choice comes from the seed, so a
/// failure is reproduced by its number.
///
/// Each step does one small thing (an update arrives, a person follows, a push comes back, a second passes). Each push is judged, and after
/// each step, or each `auditInterval` steps, every invariant is checked that holds at all times. Worlds are small, so that rare coincidences
/// are common.
package final class World {
    /// Next thing that a world does; the weights make both quiet spells and storms.
    enum Action: CaseIterable {
        case card, goal, goals, cancelGoal, endMatch, reopen, follow, start, report, unfollow, move, rotateToken,
            setPreferences,
            reconfigure, trouble, ask
        case deliverCommand, pull, complete, takeFeedback, passTime

        var weight: Int {
            switch self {
            case .card: 6
            case .goal: 3
            case .goals, .cancelGoal, .endMatch, .reopen, .unfollow, .rotateToken, .setPreferences, .reconfigure, .ask:
                1
            case .start, .trouble: 2
            case .move, .follow, .report: 4
            case .passTime: 6
            case .deliverCommand: 24
            case .pull: 16
            case .complete: 24
            case .takeFeedback: 16
            }
        }
    }

    let options: WorldOptions
    var random: SplitMix64
    var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)
    var nodes: [Node] = []
    var feed: SimulatedFeed
    var phones: [Phone] = []
    /// What was pushed to each phone, by its number.
    var histories: [PushHistory] = []
    /// Is `true` while every token looks dead.
    var isMisconfigured = false
    /// Subscribers by the preferences in their commands.
    var wishes: [Preferences: Subscriber] = [:]
    package internal(set) var counts: WorldCounts<WorldOccurrence> = WorldCounts()
    package internal(set) var troubles = TroublesMet()
    /// Number of steps from one audit of the shards' parts to the next, at least 1. An audit takes two thirds of a step's time and changes
    /// nothing: a world goes the same way whatever its interval.
    package var auditInterval = 1
    /// Hash of all pushes, answers and their moments; equal for a seed in every process.
    package private(set) var digest: UInt64 = 0
    /// Takes a line for everything that happens, to find the cause of a violation.
    package var onHappening: ((String) -> Void)?
    /// A wrong or missing statement of a shard.
    var falsehood: String?

    package init(seed: UInt64, options: WorldOptions = WorldOptions()) {
        self.options = options
        random = SplitMix64(seed: seed)
        feed = SimulatedFeed(options, seed: seed)
        nodes = (0..<options.shards).map { Node($0, options, at: moment) }
        broadcast(feed.start())
    }

    /// - Returns: a violation, or `nil` after `count` steps and a final calm in which everything settled.
    package func run(steps count: Int) -> String? {
        for _ in 0..<count {
            counts[.steps] += 1
            let isAudited = counts[.steps] % auditInterval == 0
            if let violation = step() ?? (isAudited ? locallyViolated() : falsehood ?? feed.violatedInvariant()) {
                return "step \(counts[.steps]): \(violation)"
            }
            // Now and then the world goes quiet, and the global invariants are checked.
            if random.chance(0.002), let violation = calm() { return "calm after step \(counts[.steps]): \(violation)" }
        }
        return calm().map { "calm after step \(counts[.steps]): \($0)" }
    }

    private func step() -> String? {
        var choice = Int.random(in: 0..<Action.allCases.reduce(0) { $0 + $1.weight }, using: &random)
        for action in Action.allCases {
            choice -= action.weight
            if choice < 0 { return perform(action) }
        }
        return nil
    }

    private func perform(_ action: Action) -> String? {
        switch action {
        case .card, .goal, .goals, .cancelGoal, .endMatch, .reopen, .follow, .start, .report, .unfollow, .move,
            .rotateToken,
            .setPreferences, .trouble, .ask:
            // Outside events are refused while the core has no room to pass them on.
            guard nodes.allSatisfy({ $0.rings.backlog.isEmpty }) else { return nil }
        case .reconfigure, .deliverCommand, .pull, .complete, .takeFeedback, .passTime: break
        }
        switch action {
        case .card: broadcast(feed.card(using: &random))
        case .goal: broadcast(feed.goal(using: &random))
        case .goals: broadcast(feed.goals(using: &random))
        case .cancelGoal: broadcast(feed.cancelGoal(using: &random))
        case .endMatch: broadcast(feed.end(using: &random))
        case .reopen: if options.reopens != .never { broadcast(feed.reopen(using: &random)) }
        case .follow:
            if options.handsOver, random.chance(0.8) {
                start()
            } else {
                follow(on: Int.random(in: 0..<nodes.count, using: &random))
            }
        case .start:
            if options.starts, !random.chance(0.5) || !replaceStartToken() { start() }
        case .report: report()
        case .unfollow: if let index = livePhone() { unfollow(index) }
        case .move:
            if let index = livePhone() {
                phones[index].audience = nextAudience(after: phones[index].audience)
                send(.move(anyName(of: index), phones[index].audience), to: phones[index].node)
            }
        case .rotateToken:
            if let index = livePhone(), phones[index].hasToken { rotateToken(of: index) }
        case .setPreferences:
            if let index = livePhone() { setPreferences(index, Subscriber(atMinute: minute, using: &random)) }
        case .reconfigure:
            if options.isMisconfigurable { isMisconfigured = !isMisconfigured && random.chance(0.3) }
        case .trouble: makeTrouble()
        case .ask: ask(nodes.randomElement(using: &random)!)
        case .deliverCommand: _ = deliverCommand(to: nodes.randomElement(using: &random)!)
        case .pull: return pull(nodes.randomElement(using: &random)!)
        case .complete: complete(nodes.randomElement(using: &random)!)
        case .takeFeedback:
            _ = takeFeedback(nodes.randomElement(using: &random)!, limit: Int.random(in: 1...8, using: &random))
        case .passTime:
            // Some steps go exactly to the next deadline; none is so long that alerts grow stale.
            let due = random.chance(0.2) ? feed.untilDeadline : nil
            // Steps are longer where lifetimes or silences are short, so that many of them end.
            let longest: Int64 = options.lifetime < .seconds(3600) || options.silences ? 6000 : 3000
            broadcast(feed.fallSilent())
            broadcast(feed.moveKickOff())
            pass(milliseconds: due.map { min($0, longest) } ?? Int64.random(in: 1...longest, using: &random))
        }
        return nil
    }

    /// - Returns: `true` if anything was published in the meantime.
    @discardableResult
    func pass(milliseconds: Int64) -> Bool {
        let commands = feed.pass(milliseconds: milliseconds)
        broadcast(commands)
        moment.monotonic += .milliseconds(milliseconds)
        moment.wallMilliseconds += milliseconds
        for node in nodes { node.clock.read(at: moment) }
        return commands.contains { if case .publish = $0 { true } else { false } }
    }

    func happens(_ what: @autoclosure () -> String, at node: Node) {
        onHappening?("\(counts[.steps]) \(moment.monotonic.nanoseconds / 1_000_000) ms, node \(node.index): \(what())")
    }

    func digest(_ numbers: UInt64...) {
        for number in numbers + [UInt64(moment.monotonic.nanoseconds)] { digest = (digest ^ number).mixed }
    }

    /// Audits the parts of all shards, and checks the feed.
    func locallyViolated() -> String? {
        counts[.audits] += 1
        for node in nodes { if let violation = node.shard.violatedInvariant() { return violation } }
        if let falsehood { return falsehood }
        return feed.violatedInvariant()
    }
}
