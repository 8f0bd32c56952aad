import FanfareModel
import FanfareTOML
package import Foundation

/// The shipped scenarios.
package enum ScenarioFiles {
    private static let folder = "Load/scenarios"

    /// Reads a shipped scenario by its name, or a file by its path.
    ///
    /// - Throws: `TOMLError` for the faults of a file, `LaboratoryError` for an unknown name.
    package static func find(_ name: String) throws -> Scenario {
        if name.hasSuffix(".toml") || name.contains("/") { return try Scenario(file: name) }
        if let path = ProgramFiles.repositoryFile("\(folder)/\(name).toml") { return try Scenario(file: path) }
        let names = try names()
        let advice =
            name.nearest(of: names).map { "did you mean \($0)?" } ?? "expected one of \(names.joined(separator: ", "))"
        throw LaboratoryError("\(name): no such scenario; \(advice)")
    }

    package static func all() throws -> [Scenario] { try names().map(find) }

    private static func names() throws -> [String] {
        guard let path = ProgramFiles.repositoryFile(folder) else {
            throw LaboratoryError(
                "\(folder): not found above the program; run from the repository, or name a TOML file")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: path)
        return files.filter { $0.hasSuffix(".toml") }.map { String($0.dropLast(5)) }.sorted()
    }
}

extension ScenarioSummary {
    package init(_ scenario: Scenario) {
        self.init(
            name: scenario.name, question: scenario.purpose.question, good: scenario.purpose.good,
            subscribers: scenario.subscribers.count, topics: scenario.feed.topics, shards: scenario.shards,
            transport: scenario.transport.name, seed: scenario.seed, scale: scenario.factors.scale,
            rate: scenario.factors.rate)
        duration = scenario.duration.inSeconds
        engines = scenario.engines
        hasLineups = scenario.subscribers.lineups != nil
        roundTrip = scenario.transport.distance("--round-trip")
        answerDelay = scenario.transport.option("--latency")
        stall = scenario.transport.distance("--stall")
        // The relay's default.
        stallEvery = stall.map { _ in scenario.transport.distance("--stall-every") ?? 5 }
        definition = scenario.definition
    }
}

extension LoadResult {
    /// Writes the result as one line of JSON.
    package func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(toFile: path)
    }

    package init(file path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw LaboratoryError("\(path): cannot be read")
        }
        do { self = try JSONDecoder().decode(LoadResult.self, from: data) } catch {
            throw LaboratoryError("\(path): no result of fanfare-load: \(error)")
        }
        guard (1...LoadResult.schemaNow).contains(schema) else {
            throw LaboratoryError("\(path): has schema \(schema); this program reads 1 to \(LoadResult.schemaNow)")
        }
    }
}

extension Duration {
    /// Reads a duration as scenarios spell it: `90 s`, `5 min`.
    package init?(words text: String) { self.init(inRules: text) }
}

extension Data {
    /// Writes a whole file. If the disk is full, one that is there stays as it was.
    package func write(toFile path: String) throws(LaboratoryError) {
        // A pipe or a device cannot be replaced.
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        let options: WritingOptions = type.map { $0 == .typeRegular } ?? true ? .atomic : []
        do { try write(to: URL(fileURLWithPath: path), options: options) } catch {
            throw LaboratoryError("\(path): cannot be written: \(error.localizedDescription)")
        }
    }
}
