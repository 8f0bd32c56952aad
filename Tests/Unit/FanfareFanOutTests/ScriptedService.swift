import FanfareModel
import FanfareQueues
import FanfareTestSupport

@testable import FanfareFanOut

/// One shard, and a service with scripted answers for each token, behind a gate like the transport's: after service errors one push is
/// tried after a wait, and an accepted one opens the gate again.
final class ScriptedService {
    static let match = TopicID("match")
    /// Wait between a failed try and the next one.
    static let probeSeconds: Int64 = 15

    private let embedded: EmbeddedShard
    var shard: Shard { embedded.shard }
    var moment: Moment {
        get { embedded.moment }
        set { embedded.moment = newValue }
    }
    /// Returns the service's answer to a push for a member.
    var answer: (_ member: Int, _ payload: Payload) -> DeliveryOutcome = { _, _ in .accepted }
    /// Accepted pushes, the oldest first.
    private(set) var accepted: [(member: Int, payload: Payload)] = []
    /// Tokens of the accepted pushes, in the same order.
    private(set) var tokens: [[UInt8]] = []
    private(set) var pushes = 0
    private(set) var isGateShut = false
    /// Excess of errors over accepted pushes that shuts the gate.
    var troubleMax = 1
    private var trouble = 0

    init(members: Range<Int> = 0..<0, shard: Shard = Shard()) {
        embedded = EmbeddedShard(
            shard, at: Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000))
        for member in members { follow(member) }
    }

    static func id(_ member: Int) -> ActivityID { ActivityID(UInt64(member).mixed) }
    /// Returns a token of four bytes: the number of the token, and the member.
    static func token(_ member: Int, number: Int = 0) -> [UInt8] {
        [UInt8(number), UInt8(member >> 16), UInt8(member >> 8 & 255), UInt8(member & 255)]
    }

    func follow(_ member: Int, _ key: AudienceKey = .topic(match), number: Int = 0) {
        apply(.follow(Self.id(member), key, token: Self.token(member, number: number)))
    }

    func apply(_ command: ShardCommand) { embedded.apply(command) }

    func unfollow(_ members: some Sequence<Int>) {
        for member in members { apply(.unfollow(Self.id(member))) }
    }

    /// - Parameter alert: title of the publication's alert.
    func publish(
        _ topic: TopicID = match, alert: String? = nil, class alertClass: AlertClass = .essential,
        state: JSONObject? = nil, event: Publication.Event = .update, priority: Priority = .immediate
    ) {
        let alert = alert.map {
            Alert(
                cause: $0, class: alertClass, text: AlertText(title: $0, body: ""), freshFor: .seconds(3600),
                highlight: "version")
        }
        embedded.publish(
            Publication.test(
                embedded.nextSerial(), of: topic, event: event, state: state, priority: priority, alert: alert,
                dismissal: event == .end ? .after(.seconds(60)) : nil))
    }

    func pass(_ duration: Duration) { embedded.pass(duration) }
    func pass(seconds: Int64) { embedded.pass(seconds: seconds) }

    /// Returns the pushes that leave now; `complete` gives their answers.
    func pull() -> [EmbeddedShard.Push] { embedded.pull(limit: 64) }

    /// Returns the push that leaves when chance chooses; `complete` gives its answer.
    func pullByLot(_ random: UInt64) -> [EmbeddedShard.Push] { embedded.pullByLot(random) }

    func complete(_ pushes: [EmbeddedShard.Push], _ outcome: DeliveryOutcome) { embedded.answer(pushes, outcome) }

    /// Pulls once and answers all pushes. Behind a shut gate that is one push, after a wait.
    ///
    /// - Returns: the number of pushes.
    @discardableResult func turn(limit: Int = 64) -> Int {
        if isGateShut { pass(seconds: Self.probeSeconds) }
        let pulled = embedded.pull(limit: isGateShut ? 1 : limit)
        embedded.answer(pulled, by: take)
        return pulled.count
    }

    /// Returns the service's answer to a push.
    private func take(_ push: EmbeddedShard.Push) -> DeliveryOutcome {
        pushes += 1
        let token = push.token.map(Int.init)
        let member = token[1] << 16 | token[2] << 8 | token[3]
        let outcome = answer(member, push.payload)
        switch outcome {
        case .accepted:
            accepted.append((member, push.payload))
            tokens.append(push.token)
            trouble = isGateShut ? 0 : max(0, trouble - 1)
            isGateShut = false
        case .serviceError:
            trouble += 1
            if trouble >= troubleMax { isGateShut = true }
        default: break
        }
        return outcome
    }

    /// Makes turns until one has no push, at most `turns`.
    func run(turns: Int = .max) {
        for _ in 0..<turns { if turn() == 0 { return } }
    }

    /// Returns the members that got this alert.
    func told(of alert: String) -> Set<Int> {
        Set(accepted.lazy.filter { $0.payload.alert?.title == .text(alert) }.map(\.member))
    }

    func feedback() -> [ShardFeedback] { embedded.feedback() }
}
