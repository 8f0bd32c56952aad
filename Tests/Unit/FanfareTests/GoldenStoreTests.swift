import FanfareDecisions
import FanfareLog
import FanfareModel
import FanfareRules
import FanfareTestSupport
import Foundation
import Testing

@testable import Fanfare

/// A store that an earlier release has left: the present build reads it, and an engine goes on from it. `FANFARE_GOLDEN_STORES=resume` writes the
/// text of what an engine makes of it anew: read the differences as an operator would. `FANFARE_GOLDEN_STORES=record` makes a store whose folder is
/// not there yet.
@Suite(.serialized) struct GoldenStoreTests {
    private static let golden =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/GoldenStores/1"
    private static let mode = ProcessInfo.processInfo.environment["FANFARE_GOLDEN_STORES"]

    // MARK: Reading

    @Test(.enabled(if: mode != "record", "FANFARE_GOLDEN_STORES=record makes the store"))
    func eachRowOfAGoldenStoreIsRead() throws {
        let copy = try Self.copy()
        let lines = try GoldenStoreText(store: copy.path).lines
        let kinds = ["entry", "checkpoint", "card", "claims of", "completion "]
        for kind in kinds { #expect(lines.contains { $0.hasPrefix(kind) }, "no \(kind)") }
        try Self.expect(lines, in: "stored.txt")
    }

    @Test(.enabled(if: mode != "record", "FANFARE_GOLDEN_STORES=record makes the store"), .timeLimit(.minutes(10)))
    func anEngineGoesOnFromAGoldenStore() async throws {
        let copy = try Self.copy()
        let lines = try await Self.resumed(copy.path)
        if Self.mode == "resume" { try Self.write(lines, to: "resumed.txt") }
        try Self.expect(lines, in: "resumed.txt")
    }

    /// Starts an engine on the store five seconds after its last entry, by the wall clock, and hands in events.
    private static func resumed(_ store: String) async throws -> [String] {
        let (rules, last) = try end(of: store)
        let life = try GoldenEngine(store: store, rules: rules, at: last + .seconds(5))
        let engine = life.engine
        var isSettled = await engine.settle(within: .seconds(300))
        #expect(isSettled)
        var lines = life.takePhones().map { "start: \($0)" }
        for topic in GoldenStoreRecorder.topics {
            let state = try await engine.topicState(topic)
            lines.append("topic \(topic): \(text(state))")
        }
        let next = last + .seconds(5)
        // A start carries the state of the moment in which its claim is durable.
        let kickOff = GoldenStoreRecorder.kickOff(of: "match/9", at: next)
        _ = try await engine.ingest(kickOff[0])
        while life.alerts == 0 { await Task.yield() }
        _ = try await engine.ingest(kickOff[1])
        _ = try await engine.ingest(GoldenStoreRecorder.goal("1-2", of: "match/1", at: next))
        isSettled = await engine.settle(within: .seconds(300))
        #expect(isSettled)
        lines += life.takePhones().map { "events: \($0)" }
        lines += life.toldFates.map { "fate: \($0)" }
        lines += life.reports.map { "report: \($0.replacingOccurrences(of: store, with: "STORE"))" }
        _ = await engine.shutdown()
        return lines
    }

    private static func text(_ state: TopicState?) -> String {
        guard let state else { return "unknown" }
        let shown = state.contentState.map { GoldenStoreText.text($0) } ?? "nothing"
        return "\(state.kind.rawValue), version \(state.version), \(state.isEnded ? "ended" : "live"), \(shown)"
    }

    /// Returns the store's newest rules, so that an engine under them shows no topic otherwise, and the time of the last entry, by log time or by the
    /// wall clock, whichever is later.
    private static func end(of store: String) throws -> (rules: Rules, last: FeedTime) {
        let log = try LMDBLog(folder: store, isReadOnly: true)
        defer { log.close() }
        var last: FeedTime?
        try log.read(from: 1) { (_, entry) throws(LogError) in
            last = max(last ?? entry.now, entry.now)
            if case .event(_, let wall?) = entry.body { last = max(last ?? wall, wall) }
            return true
        }
        let newest = try #require(try log.checkpoints.positions().first)
        let text = try log.checkpoints.head(at: newest).rules.text
        return (try Rules(written: text, like: .builtIn), try #require(last))
    }

    private static func expect(_ lines: [String], in file: String) throws {
        let expected = try String(contentsOfFile: "\(golden)/\(file)", encoding: .utf8)
            .split(separator: "\n").map(String.init)
        for (found, meant) in zip(lines, expected) where found != meant {
            Issue.record("\(file): found “\(found)”, expected “\(meant)”")
        }
        #expect(lines.count == expected.count, "\(file)")
    }

    // MARK: Recording

    @Test(.enabled(if: mode == "record", "only FANFARE_GOLDEN_STORES=record"), .timeLimit(.minutes(10)))
    func aGoldenStoreIsRecorded() async throws {
        // Releases have written the stores that are there, and nobody can write them again.
        try #require(!FileManager.default.fileExists(atPath: Self.golden), "name the folder of a new store")
        let folder = try TemporaryFolder.made()
        try await GoldenStoreRecorder(store: folder.path + "/store").record()
        try Self.copyFiles(from: folder.path + "/store", to: Self.golden + "/store")
        let (read, served) = (try Self.copy(), try Self.copy())
        try Self.write(try GoldenStoreText(store: read.path).lines, to: "stored.txt")
        let lines = try await Self.resumed(served.path)
        try Self.write(lines, to: "resumed.txt")
    }

    private static func write(_ lines: [String], to file: String) throws {
        try lines.map { $0 + "\n" }.joined().write(toFile: "\(golden)/\(file)", atomically: true, encoding: .utf8)
    }

    /// Returns a copy of the golden store that goes with the object.
    private static func copy() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try copyFiles(from: golden + "/store", to: folder.path)
        return folder
    }

    /// Copies a store's files, without the locks of its processes.
    private static func copyFiles(from store: String, to target: String) throws {
        let manager = FileManager.default
        for part in ["", "/people", "/claims"] {
            try manager.createDirectory(atPath: target + part, withIntermediateDirectories: true)
            for name in try manager.contentsOfDirectory(atPath: store + part) {
                guard name == "data.mdb" || name == "skipped" || name.hasPrefix("checkpoint-") else { continue }
                let copy = "\(target)\(part)/\(name)"
                try manager.copyItem(atPath: "\(store)\(part)/\(name)", toPath: copy)
                try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
            }
        }
    }
}
