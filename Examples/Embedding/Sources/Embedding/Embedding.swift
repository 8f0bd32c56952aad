import Fanfare
import Foundation

/// Small feed backend: two people follow a match, which begins and has a goal. One of them also waits for a ride, whose state is the
/// app's own Swift struct. The other one turns Live Activities off.
///
/// `.discard` takes every push and sends nothing. This program serves phones with `.apns(.production(…))`.
///
/// With a folder as its argument the engine keeps there what it has been told. The program may be killed at any moment and started again: it
/// hands in the same once more, and nobody is told anything twice.
@main struct Embedding {
    /// Content state, declared as in the app's `ActivityAttributes`.
    struct Ride: Codable, Hashable, Sendable {
        var driver: String
        var arrival: Date
    }

    enum Trouble: Error { case undelivered(String) }

    static func main() async throws {
        let folder = CommandLine.arguments.dropFirst().first
        let engine = try await Engine.launch(Engine.Options(transport: .discard, store: folder.map { .folder($0) }))
        // Each task listens until the engine has stopped. The sequences are made before the first event, so they miss nothing.
        let (decisions, deadTokens, reports) = (engine.decisions(), engine.deadTokens(), engine.reports())
        let listening = Task {
            for await record in decisions {
                let alert = record.alert.map { ", alert \($0.rawValue)" } ?? ""
                print("\(record.kind): \(record.outcome.rawValue), \(record.reason)\(alert)")
            }
            if decisions.lost > 0 { print("\(decisions.lost) decisions were lost: print faster") }
        }
        Task { for await dead in deadTokens { print("forget the token of \(dead.text ?? "a card without an id")") } }
        Task { for await line in reports { print(line) } }

        try await play(on: engine)
        try await ride(on: engine)
        // Ben has turned Live Activities off in Settings. The app reports it at its next start, and one call ends all of his cards; it
        // takes the cards of many people, too.
        _ = try await engine.unfollow(["ben": ["ben-card"]])
        guard await engine.settle(within: .seconds(120)) else { throw Trouble.undelivered("ends") }

        let counts = try await engine.counts()
        print("\(counts.pushes.sent) pushes, \(counts.pushes.accepted) accepted, \(counts.alerts.accepted) alerts")
        let report = await engine.shutdown(within: .seconds(10))
        if !report.isDrained { print("\(report.owed) activities lack something") }
        await listening.value
    }

    private static func play(on engine: Engine) async throws {
        let match = TopicID("match/1")
        for person in ["anna", "ben"] {
            // The app registers the update token of each Live Activity; the example makes one up.
            let token = [UInt8](repeating: 0xAB, count: 79) + [UInt8(person.count)]
            _ = try await engine.follow(
                .topic(match), activity: "\(person)-card", subscriber: SubscriberID(person), token: token)
        }

        // The goal is of this moment: news that is older than its alert stays fresh does not alert, so a recorded goal would not.
        let now = FeedTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let kickoff = now + .seconds(-1620)
        let teams = Fact(
            id: "teams", kind: "teams", at: kickoff, values: ["home": "Juniper Vale", "away": "Ravensmark"])
        let firstHalf = Fact(id: "1H", kind: "period", at: kickoff, values: ["period": "1H"])
        let goal = Fact(
            id: "goal-1", kind: "goal", at: now, values: ["side": "home", "player": "H. Corvand"])
        for fact in [teams, firstHalf, goal] {
            let event = FeedEvent(
                topic: match, topicKind: .football, at: fact.at, id: fact.id, kind: fact.kind,
                lifecycle: fact.id == "1H" ? .start : nil, change: .fact(fact))
            // A feed's own loop offers events, and waits only while there is no room.
            while engine.offer(event) == .full { try await engine.room(for: .ingest(event)) }
            // Settling makes the output reproducible: the goal may overtake the kick-off otherwise.
            guard await engine.settle(within: .seconds(120)) else { throw Trouble.undelivered(fact.id) }
        }
        if let state = try await engine.topicState(match) {
            print("version \(state.version): \(state.contentState?.json ?? "nothing yet")")
        }
    }

    private static func ride(on engine: Engine) async throws {
        let ride = TopicID("ride/17")
        do {
            _ = try await engine.follow(
                .topic(ride), activity: "anna-ride", subscriber: "anna", token: [UInt8](repeating: 0xCD, count: 80))
        } catch {
            guard case .refused(let refusal) = error, refusal.cause == .token else { throw error }
            print("ask the app for another token: \(refusal)")
        }
        let state = Ride(driver: "Ben", arrival: Date(timeIntervalSince1970: 1_781_360_000))
        // The id tells a repeated call from another one.
        let receipt = try await engine.publish(
            state, for: ride, id: "on-the-way", alert: AlertText(title: "Ben is on his way", body: "Blue van"))
        print("taken at place \(receipt.position), kept in \(receipt.durability)")
        guard await engine.settle(within: .seconds(120)) else { throw Trouble.undelivered("\(ride)") }
    }
}
