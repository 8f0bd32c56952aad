import Dispatch
import Fanfare
import Foundation

/// A feed backend in small: two people follow a match; it begins, and a goal falls. One of them waits for a ride, whose state
/// is the app's own Swift struct.
///
/// `.discard` takes every push and sends nothing. With `.apns(APNsOptions(…))` the same program serves phones.
@main struct Embedding {
    /// The same declaration as in the app's `ActivityAttributes`.
    struct Ride: Codable, Hashable, Sendable {
        var driver: String
        var arrival: Date
    }

    enum Trouble: Error { case notTaken(String, Admission), undelivered(String) }

    static func main() throws {
        var observer = Engine.Observer()
        observer.decided = { print("\($0.kind): \($0.outcome.rawValue), \($0.reason)") }
        // The engine keeps hashes of the app's ids, and answers with them.
        let cards = Dictionary(uniqueKeysWithValues: ["anna-card", "ben-card"].map { (ActivityID(hashing: $0), $0) })
        observer.tokenDied = { print("forget the token of \(cards[$0] ?? "a card of another run")") }
        observer.report = { print($0) }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)

        let match = TopicID("match/1")
        for person in ["anna", "ben"] {
            // The app registers the update token of each Live Activity; a made-up one will do here.
            let token = [UInt8](repeating: 0xAB, count: 79) + [UInt8(person.count)]
            let admission = engine.follow(
                .topic(match), activity: "\(person)-card", subscriber: person, token: token)
            guard admission.isTaken else { throw Trouble.notTaken(person, admission) }
        }

        let kickoff = FeedTime(seconds: 1_781_359_200)
        let teams = Fact(
            id: "teams", kind: "teams", at: kickoff, values: ["home": "Juniper Vale", "away": "Ravensmark"])
        let firstHalf = Fact(id: "1H", kind: "period", at: kickoff, values: ["period": "1H"])
        let goal = Fact(
            id: "goal-1", kind: "goal", at: kickoff + .seconds(1620), values: ["side": "home", "player": "H. Corvand"])
        for fact in [teams, firstHalf, goal] {
            let event = FeedEvent(
                topic: match, topicKind: .football, at: fact.at, id: fact.id, kind: fact.kind,
                lifecycle: fact.id == "1H" ? .start : nil, change: .fact(fact))
            let admission = engine.ingest(event)
            guard admission.isTaken else { throw Trouble.notTaken(fact.id, admission) }
            // Only so that this example always prints the same: else the goal may overtake the kick-off.
            guard engine.settle(within: .seconds(120)) else { throw Trouble.undelivered(fact.id) }
        }

        let ride = TopicID("ride/17")
        let admission = engine.follow(
            .topic(ride), activity: "anna-ride", subscriber: "anna", token: [UInt8](repeating: 0xCD, count: 80))
        guard admission.isTaken else { throw Trouble.notTaken("anna", admission) }
        let state = Ride(driver: "Ben", arrival: Date(timeIntervalSince1970: 1_781_360_000))
        guard
            try engine.publish(state, for: ride, alert: AlertText(title: "Ben is on his way", body: "Blue van"))
                .isTaken,
            engine.settle(within: .seconds(120))
        else { throw Trouble.undelivered("\(ride)") }

        let counted = DispatchSemaphore(value: 0)
        let asked = engine.counts { counts in
            print("\(counts.pushes.sent) pushes, \(counts.pushes.accepted) accepted")
            counted.signal()
        }
        guard asked.isTaken else { throw Trouble.notTaken("counts", asked) }
        counted.wait()
        engine.stop()
    }
}
