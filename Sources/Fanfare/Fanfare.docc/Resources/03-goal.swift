import Fanfare
import Foundation

let engine = try await Engine.launch(Engine.Options(transport: .discard))

let match = TopicID("match/1")
let token: [UInt8] = [0x80, 0xf2, 0x9c, 0x41]
_ = try await engine.follow(.topic(match), activity: "anna-card", subscriber: "anna", token: token)

let now = FeedTime(seconds: Int64(Date().timeIntervalSince1970))
let kickOff = now + .seconds(-1620)
let teams = Fact(id: "teams", kind: "teams", at: kickOff, values: ["home": "Juniper Vale", "away": "Ravensmark"])
let goal = Fact(id: "g1", kind: "goal", at: now, values: ["side": "home"])
for fact in [teams, goal] {
    let event = FeedEvent(
        topic: match, topicKind: .football, at: fact.at, id: fact.id, kind: fact.kind,
        lifecycle: fact.id == "teams" ? .start : nil, change: .fact(fact))
    while engine.offer(event) == .full { try await engine.room(for: .ingest(event)) }
}

_ = await engine.shutdown(within: .seconds(10))
