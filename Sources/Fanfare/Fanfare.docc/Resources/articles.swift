// The code of the catalogue's articles, which show the bodies of these functions or a part of them. `scripts/docs-check` compares and compiles it.
import Fanfare
import FanfareFeeds

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
