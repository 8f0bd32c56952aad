import FanfareDecisions
import FanfareFanOut
import FanfareModel
import FanfareTestSupport

@testable import CrashSimulation
@testable import Fanfare

/// Requests to the engine, as its callers make them.
extension EngineWorld {
    /// - Returns: whether it was taken.
    @discardableResult private func post(_ request: CoreRequest) -> Bool {
        switch inbox.post(request) {
        case .taken:
            sequence += 1
            onHappening?("\(sequence): \(request)")
            requested.isSet = true
            return true
        case .full: met.refusals += 1
        case .refused(let reason): complain("refused: \(reason)")
        case .stopped: complain("stopped before it was told to")
        }
        return false
    }

    private func post(_ event: FeedEvent) -> Bool {
        let isTaken = random.chance(0.5) ? post(.event(event)) : post(.eventNow { [event] in event.dated($0) })
        if isTaken, let id = event.id { events.took(id) }
        return isTaken
    }

    func begin() {
        let topic = TopicID("topic/\(topics.count)")
        if happens(in: topic, number: 1, lifecycle: .start) { topics[topic] = Topic(number: 1) }
    }

    func happen(silently: Bool = false) {
        guard let (id, topic) = runningTopics.randomElement(using: &random) else { return begin() }
        let ends = !silently && random.chance(0.03) && runningTopics.count > 1
        let alert = !silently && random.chance(0.3)
        guard happens(in: id, number: topic.number + 1, lifecycle: ends ? .end : nil, alerts: alert) else { return }
        topics[id]?.number += 1
        if ends { topics[id]?.endedBy = sequence }
    }

    /// The topics that have not ended, in an order that depends on the seed alone, unlike a dictionary's.
    private var runningTopics: [(TopicID, Topic)] {
        topics.filter { $0.value.endedBy == nil }.sorted { $0.key.rawValue < $1.key.rawValue }
    }

    private func happens(
        in topic: TopicID, number: Int, lifecycle: FeedEvent.Lifecycle? = nil, alerts: Bool = false
    ) -> Bool {
        let state: JSONObject = ["number": .int(Int64(number)), "topic": .string(topic.rawValue)]
        let id = "\(sequence + 1)"
        let isTaken = post(
            FeedEvent(
                topic: topic, topicKind: .generic, at: clock.truth, seq: UInt64(number), id: id, kind: "number",
                lifecycle: lifecycle, change: .patch(state), alert: alerts ? AlertText(title: id, body: "") : nil))
        guard isTaken else { return false }
        meanings[EncodedState(state).bytes] = (topic, number)
        if alerts { alertTopics[id] = topic }
        return true
    }

    private func anyTopic() -> TopicID {
        topics.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random)!
    }

    private func newPhone() -> Phone {
        let number = UInt64(phones.count + 1)
        return Phone(
            id: ActivityID(number), subscriber: number.mixed, app: Int.random(in: 0..<apps.count, using: &random),
            token: newToken())
    }

    private func newToken() -> [UInt8] { (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) } }

    /// Loads the subscribers that exist when the engine starts.
    func load() {
        let loaded = (0..<4).map { _ in
            var phone = newPhone()
            phone.choices = [(sequence, anyTopic())]
            add(phone)
            return Subscription(
                audience: .topic(phone.choices[0].topic!), activity: phone.id, subscriber: phone.subscriber,
                token: phone.tokens[0], app: apps[phone.app].id)
        }
        let source = CountedSource(loaded)
        let queues = nodes.map { _ in LoadingQueue() }
        let byApp = apps.indices.map { Array(queues[$0 * perApp..<($0 + 1) * perApp]) }
        _ = try? source.distribute(to: byApp, apps: apps.map(\.id), limits: Rules.Limits(), now: clock.truth)
        if source.readings != 1 { complain("subscribers are read \(source.readings) times") }
        for (node, queue) in zip(nodes, queues) {
            queue.finish()
            while let commands = queue.take() { for command in commands { node.load(command) } }
            queue.close()
        }
    }

    private func add(_ phone: Phone) {
        phonesByToken[phone.tokens[0]] = phones.count
        phones.append(phone)
    }

    func follow() {
        guard phones.count(where: \.isLive) < 24 else { return }
        var phone = newPhone()
        let topic = anyTopic()
        let new = Subscription(
            audience: .topic(topic), activity: phone.id, subscriber: phone.subscriber, token: phone.tokens[0])
        guard post(.follow(new, app: phone.app)) else { return }
        phone.choices = [(sequence, topic)]
        add(phone)
    }

    func change() {
        guard let index = phones.indices.filter({ phones[$0].isLive }).randomElement(using: &random) else { return }
        let phone = phones[index]
        switch random.next() % 4 {
        case 0: if tell(phone, .unfollow(phone.id)) { phones[index].choices.append((sequence, nil)) }
        case 1:
            let topic = anyTopic()
            if tell(phone, .move(phone.id, .topic(topic))) { phones[index].choices.append((sequence, topic)) }
        case 2:
            let token = newToken()
            guard tell(phone, .replaceToken(phone.id, token: token)) else { return }
            phonesByToken[token] = index
            phones[index].tokens.append(token)
        default: tell(phone, .setPreferences(phone.id, Preferences()))
        }
    }

    @discardableResult private func tell(_ phone: Phone, _ command: ShardCommand) -> Bool {
        post(.command(command, subscriber: phone.subscriber, app: phone.app))
    }

    func order() {
        let operation = FeedEvent.Operation.allCases.filter { $0 != .reset }.randomElement(using: &random)!
        let scope = random.next() % 3
        let topic = scope == 0 ? anyTopic() : .every
        let app = scope == 1 ? apps.indices.randomElement(using: &random) : nil
        let event = FeedEvent(
            topic: topic, at: clock.truth, id: "\(sequence + 1)", kind: operation.rawValue,
            change: .operation(operation), app: app.map { apps[$0].id })
        guard post(event) else { return }
        guard operation == .pause || operation == .resume else { return }
        let isPaused = operation == .pause
        pauses += isPaused ? 1 : 0
        if let app {
            apps[app].isToPause = isPaused
        } else if topic == .every {
            everyIsPaused = isPaused
        } else {
            topics[topic]?.isPaused = isPaused
        }
    }

    /// Makes a request for an unknown activity, or with an invalid token.
    func speakOfAStranger() {
        let id = ActivityID(random.next() | 1 << 63)
        let app = Int.random(in: 0..<apps.count, using: &random)
        let command: ShardCommand =
            switch random.next() % 4 {
            case 0: .setPreferences(id, Preferences())
            case 1: .move(id, .topic(anyTopic()))
            case 2: .replaceToken(id, token: newToken())
            default: .follow(id, .topic(anyTopic()), token: [])
            }
        guard inbox.post(.command(command, subscriber: id.rawValue, app: app)).isTaken else { return }
        sequence += 1
        requested.isSet = true
        strangers[id, default: 0] += 1
    }

    func ask() {
        let number = questions.count
        // All callbacks run in the test's own thread.
        nonisolated(unsafe) let world = self
        switch random.next() % 5 {
        case 0: if post(.counts { _ in world.answered(number) }) { questions.append(Question()) }
        case 1: if post(.freshness { _ in world.answered(number) }) { questions.append(Question()) }
        case 2:
            guard let phone = phones.randomElement(using: &random) else { return }
            let cause = "\(Int.random(in: 0...sequence, using: &random))"
            let request = CoreRequest.disposition(
                phone.id, subscriber: phone.subscriber, app: phone.app, cause: cause, anyTopic()
            ) { _ in world.answered(number) }
            if post(request) { questions.append(Question()) }
        default:
            settle(
                until: random.chance(0.5)
                    ? .never : clock.now + .nanoseconds(Int64.random(in: 0...20_000_000_000, using: &random)))
        }
    }

    func settle(until: MonotonicTime) {
        let number = questions.count
        // All callbacks run in the test's own thread.
        nonisolated(unsafe) let world = self
        var question = Question()
        question.until = until
        question.sequence = sequence
        question.numbers = topics.mapValues { isPaused($0) ? 0 : $0.number }
        question.pauses = pauses
        question.pausedApps = Set(apps.indices.filter { apps[$0].isToPause })
        guard post(.settle(until: until) { world.judge($0, of: number) }) else { return }
        questions.append(question)
    }

    /// Posts requests of one sort until the core is congested: requests without feedback, expensive ones, or ones with feedback.
    func flood() {
        nodes.randomElement(using: &random)!.isHung = random.chance(0.7)
        let kind = random.next() % 4
        for _ in 0..<400 where !core.isCongested || random.chance(0.3) {
            switch kind {
            case 0:
                post(
                    .command(
                        .unfollow(ActivityID(.max)), subscriber: random.next(),
                        app: Int.random(in: apps.indices, using: &random)))
            case 1: post(.confirmDeadTokens)
            case 2: happen()
            default:
                if let phone = phones.randomElement(using: &random) {
                    tell(phone, .setPreferences(phone.id, Preferences()))
                }
            }
            _ = runCore()
        }
        if random.chance(0.3) { calm() }
    }
}

/// A source that counts how often it is read, on the test's own thread only.
private final class CountedSource: SubscriberSource, @unchecked Sendable {
    private let everybody: [Subscription]
    private(set) var readings = 0

    init(_ everybody: [Subscription]) { self.everybody = everybody }

    var expectedCount: Int { everybody.count }

    func read(_ take: (Subscription) -> String?) {
        readings += 1
        for subscription in everybody { _ = take(subscription) }
    }
}

extension FeedEvent {
    fileprivate func dated(_ at: FeedTime) -> FeedEvent {
        var dated = self
        dated.at = at
        return dated
    }
}
