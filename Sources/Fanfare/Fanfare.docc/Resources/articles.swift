// The code of the catalogue's articles and of the samples in comments, which show the bodies of these functions or a part of them.
// `scripts/docs-check` compares and compiles it.
import Fanfare
import FanfareFeeds
import Foundation

func embed(token: [UInt8], event: FeedEvent) async throws -> ShutdownReport {
    let engine = try await Engine.launch(Engine.Options(transport: .discard))
    _ = try await engine.follow(.topic(TopicID("match/1")), activity: "anna-card", subscriber: "anna", token: token)
    _ = try await engine.ingest(event)
    let report = await engine.shutdown(within: .seconds(10))
    return report
}

func makeEvent(of match: TopicID, at time: FeedTime) -> FeedEvent {
    let goal = Fact(id: "g1", kind: "goal", at: time, values: ["side": "home", "player": "H. Corvand"])
    let event = FeedEvent(topic: match, topicKind: .football, at: time, id: "e12", kind: "goal", change: .fact(goal))
    return event
}

func play(on engine: Engine) async throws {
    for await (_, item) in try await FeedSequence(paths: ["matches/"]) {
        switch item {
        case .event(let event): _ = try await engine.ingest(event)
        case .rejected(let rejection): print(rejection)
        case .noticed(let notice): print(notice)
        }
    }
}

func take(_ bytes: [UInt8], on engine: Engine) async throws {
    var decoder = NativeLineDecoder(name: "orders")
    decoder.append(message: bytes.span)
    while let item = decoder.next() {
        if case .event(let event) = item { _ = try await engine.ingest(event) }
    }
}

func follow(_ match: TopicID, token: [UInt8], on engine: Engine) async {
    do {
        _ = try await engine.follow(.topic(match), activity: "anna-card", subscriber: "anna", token: token)
    } catch {
        switch error {
        case .refused(let refusal): print("the call is wrong: \(refusal)")
        case .full, .stopped, .cancelled: print(error)
        }
    }
}

func launch() async throws -> Engine {
    let options = APNsOptions.production(
        keyFile: "AuthKey_ABC123DEFG.p8", teamID: "DEF123GHIJ", bundleID: "com.example.scores")
    let engine = try await Engine.launch(Engine.Options(transport: .apns(options)))
    return engine
}

func resume(over transport: TransportChoice, with event: FeedEvent) async throws -> Engine {
    let options = Engine.Options(transport: transport, store: .folder("/var/lib/scores/store"))
    let engine = try await Engine.launch(options)
    let receipt = try await engine.ingest(event)
    if let entry = receipt.entry { print("\(receipt.durability), at entry \(entry) of the log") }
    return engine
}

func handInAgain(_ event: FeedEvent, on engine: Engine) async throws {
    let key = try IdempotencyKey("goal/1008/7")
    let receipt = try await engine.ingest(event, key: key)
    if receipt.isRepeat { print("the first call has arrived: \(receipt)") }
}

func offer(_ goal: Fact, of match: TopicID, at time: FeedTime, token: [UInt8], over options: APNsOptions) async throws {
    let engine = try await Engine.launch(Engine.Options(transport: .apns(options)))
    _ = try await engine.follow(.topic(match), activity: "anna-card", subscriber: "anna", token: token)
    let event = FeedEvent(topic: match, topicKind: .football, at: time, kind: "goal", change: .fact(goal))
    switch engine.offer(event) {
    case .taken(let receipt): print("taken at \(receipt.position)")
    case .full: print("the engine is behind: hold the feed back, or leave the event out")
    case .stopped, .refused: print("the engine takes no such event")
    }
    let report = await engine.shutdown()
    print("\(report.owed) activities lack a push")
}

func publish(arrival: Date, on engine: Engine) async throws {
    struct Ride: Codable, Hashable, Sendable {
        var driver: String
        var arrival: Date
    }
    _ = try await engine.publish(Ride(driver: "Anna", arrival: arrival), for: TopicID("ride/17"))
}

func finish(_ ride: some Codable & Hashable & Sendable, on engine: Engine) async throws {
    _ = try await engine.publish(ride, for: TopicID("ride/17"), as: StateEvent(lifecycle: .end))
}

func makeRules() -> TopicRules {
    var rules = TopicRules()
    rules.content.fields["courier"] = .redacted(Redaction(.initial))
    rules.pace.minimumInterval = .seconds(10)
    rules.lifetime.endsWhen = [Condition("status", .oneOf(["delivered"]))]
    return rules
}

func showFeed() throws {
    for (now, item) in try Feed(paths: ["matches/"]) { print(now, item) }
}

func showSequence() async throws {
    for await (now, item) in try await FeedSequence(paths: ["matches/"]) { print(now, item) }
}

func decode(orders bytes: [UInt8], into items: inout [FeedItem]) {
    var decoder = NativeLineDecoder(name: "orders")
    decoder.append(bytes.span)  // as often as bytes come
    while let item = decoder.next() { print(item) }  // as fast as the program takes items
    decoder.finish(into: &items)  // once: a last line may lack its line end
}

func decode(poll bytes: [UInt8], into items: inout [FeedItem]) {
    var decoder = GTFSRealtimeDecoder(stopNames: ["A02N": "Inwood–207 St"])
    decoder.decode(bytes, name: "ace", into: &items)  // once for each poll
}

func limit(_ options: inout FeedOptions) {
    options.lineSizeMax = .kibibytes(64)
}
