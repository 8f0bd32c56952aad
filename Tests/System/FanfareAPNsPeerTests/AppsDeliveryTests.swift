import APNsSimulator
import Fanfare
import FanfareLoop
import Foundation
import LoadJSON
import Testing

/// One engine with several apps, and both environments of one, over TLS and HTTP/2; the pushes at each host are judged.
@Suite struct AppsDeliveryTests {
    /// The host of one app in one environment. It trusts only that app's key, key id and team, takes only its topic, and has a
    /// certificate of its own: a misdirected push is refused, and the refusal is in the dump.
    private struct Host {
        let app: APNsOptions
        private let scratch: Scratch
        private let simulator: RunningSimulator
        private var dump: String { scratch.path("dump.ndjson") }

        init(_ bundleID: String, _ environment: AppID.Environment, keyID: String, teamID: String) throws {
            scratch = try Scratch()
            try scratch.makeCertificates()
            var options = scratch.simulatorOptions
            options.bundleID = bundleID
            options.keyID = keyID
            options.teamID = teamID
            simulator = try RunningSimulator(options, dump: scratch.path("dump.ndjson"))
            app = APNsOptions(
                host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem"),
                keyFile: scratch.path("apns.p8"), keyID: keyID, teamID: teamID, bundleID: bundleID,
                environment: environment)
        }

        func token(of person: Int) -> [UInt8] { Array("\(app.bundleID), \(app.environment), person \(person)".utf8) }

        /// Ends the simulator.
        /// - Returns: the number of accepted pushes for each token, by its name in the dump; and the number of requests for each answer.
        func stop() throws -> (accepted: [String: Int], answers: JSON?) {
            try simulator.stop()
            var accepted: [String: Int] = [:]
            var answers: JSON?
            for line in try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n") {
                let line = try JSON(parsing: Array(line.utf8))
                if let token = line["token"]?.stringValue { accepted[token] = line["accepted"]?.arrayValue?.count }
                if let counts = line["counts"] { answers = counts["answers"] }
            }
            return (accepted, answers)
        }
    }

    /// Returns the name of a token in a dump.
    private static func name(of token: [UInt8]) -> String {
        sha256(token).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// All activities follow the same topic, under the same ids; each host gets its own app's tokens and topic, and all versions.
    @Test func eachHostGetsItsOwnAppAndNothingElse() throws {
        let hosts = try [
            Host("com.example.scores", .production, keyID: "SCORESKEY1", teamID: "SCORESTEAM"),
            Host("com.example.scores", .development, keyID: "SCORESKEY2", teamID: "SCORESTEAM"),
            Host("com.example.tables", .production, keyID: "TABLESKEY1", teamID: "TABLESTEAM"),
        ]
        let people = 40
        let versions = 3
        let topic = TopicID("match/1")
        var rules = TopicRules()
        rules.pace.minimumInterval = .zero
        var options = Engine.Options(transport: .apns(hosts[0].app, others: hosts.dropFirst().map(\.app)))
        options.rules = Rules(kinds: [:], other: rules)
        let engine = try Engine(options)
        for host in hosts {
            for person in 0..<people {
                #expect(
                    engine.offer(
                        .follow(
                            .topic(topic), activity: "card of \(person)",
                            subscriber: SubscriberID("person \(person)", app: host.app.app),
                            token: host.token(of: person)
                        )
                    ).isTaken)
            }
        }
        for version in 1...versions {
            #expect(
                engine.offer(
                    FeedEvent(
                        topic: topic, topicKind: .generic, at: FeedTime(seconds: 1_790_000_000 + Int64(version)),
                        seq: UInt64(version), kind: "score", lifecycle: version == versions ? .end : nil,
                        change: .patch(["score": .int(Int64(version))]))
                ).isTaken)
            #expect(engine.settle(within: .seconds(120)))
        }
        engine.stop()

        for host in hosts {
            let (accepted, answers) = try host.stop()
            let own = (0..<people).map { (AppsDeliveryTests.name(of: host.token(of: $0)), versions) }
            #expect(accepted == Dictionary(uniqueKeysWithValues: own), "\(host.app.app)")
            #expect(answers == ["accepted": .int(Int64(people * versions))], "\(host.app.app)")
        }
    }
}
