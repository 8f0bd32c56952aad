import FanfareModel
import FanfareTOML
import Foundation
import Laboratory

/// Options of the commands that run a scenario.
struct RunOptions {
    var scenario: Scenario
    var jsonFile: String?
    var htmlFile: String?
    var repetitions: Int
    /// Number of the engine whose part of the scenario is to be run, from 1; `nil` for all.
    var engine: Int?
    /// Arguments that each engine needs: all but those that name files, and repetitions.
    let ofEngines: [String]

    /// - Throws: `UsageError`, or `TOMLError` for the scenario's file.
    init(_ arguments: [String]) throws {
        var words = RunWords()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                try words.take(scenario: word)
                continue
            }
            guard let text = rest.popFirst() else {
                throw UsageError("\(word): the value is missing, or there is no such option")
            }
            try words.take(word, text)
        }
        guard let name = words.name else {
            throw UsageError("a scenario's name or file is missing; fanfare-load list shows the names")
        }
        var scenario = try ScenarioFiles.find(name)
        if let asked = words.asked, asked > scenario.duration, scenario.lengthened(to: asked) == nil {
            throw UsageError(
                "--duration: \(scenario.name) has moments of its own and ends after \(scenario.duration / .seconds(1)) s; "
                    + "a file with other moments makes it longer")
        }
        for change in words.changes { change(&scenario) }
        scenario.thresholds += words.thresholds
        if let engine = words.engine, engine > scenario.engines {
            throw UsageError("--engine \(engine): \(scenario.name) has \(scenario.engines)")
        }
        guard words.engine == nil || words.repetitions == 1 else {
            throw UsageError("--repeat: a part of the engines is run once; the program that starts them repeats all")
        }
        self.scenario = scenario
        engine = words.engine
        jsonFile = words.jsonFile
        htmlFile = words.htmlFile
        repetitions = words.repetitions
        ofEngines = words.ofEngines
    }

    /// Refuses a file that cannot be written: a run of half an hour must not end with that.
    fileprivate static func writable(_ option: String, _ path: String) throws -> String {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        let place = exists ? path : URL(filePath: path).deletingLastPathComponent().path
        guard !isFolder.boolValue, FileManager.default.isWritableFile(atPath: place) else {
            throw UsageError(
                "\(option) \(path): cannot be written; expected a file in a folder that is there and that may be written to"
            )
        }
        return path
    }

    fileprivate static func whole(_ option: String, _ text: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "\(option) \(text): expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    static func factor(_ option: String, _ text: String) throws -> Double {
        guard let factor = Double(text), factor > 0, factor <= 1_000_000 else {
            throw UsageError("\(option) \(text): expected a number above 0, at most 1000000")
        }
        return factor
    }
}

/// The words of a command line that runs a scenario, as far as they have been read.
private struct RunWords {
    /// The scenario's name or file.
    var name: String?
    var thresholds: [Threshold] = []
    /// Changes of the scenario, in their order.
    var changes: [(inout Scenario) -> Void] = []
    var jsonFile: String?
    var htmlFile: String?
    var repetitions = 1
    var engine: Int?
    /// Measured time that is asked for.
    var asked: Duration?
    /// `RunOptions.ofEngines`.
    var ofEngines: [String] = []

    mutating func take(scenario word: String) throws {
        guard name == nil else { throw UsageError("\(word): one scenario at a time") }
        name = word
        ofEngines.append(word)
    }

    /// Takes an option with its value.
    mutating func take(_ word: String, _ text: String) throws {
        if !["--json", "--html", "--repeat"].contains(word) { ofEngines += [word, text] }
        switch word {
        case "--json": jsonFile = try RunOptions.writable(word, text)
        case "--html": htmlFile = try RunOptions.writable(word, text)
        case "--threshold":
            do { thresholds.append(try Threshold(text)) } catch { throw UsageError("--threshold \(error)") }
        case "--scale":
            let factor = try RunOptions.factor(word, text)
            changes.append { $0 = $0.scaled(by: factor) }
        case "--rate":
            let factor = try RunOptions.factor(word, text)
            changes.append { $0 = $0.rated(by: factor) }
        case "--duration":
            guard let length = Duration(words: text), length >= .seconds(1) else {
                throw UsageError("--duration \(text): expected a duration from 1 s, as in \"10 s\"")
            }
            asked = length
            changes.append {
                $0 = length > $0.duration ? $0.lengthened(to: length) ?? $0 : $0.shortened(to: length)
            }
        case "--repeat":
            repetitions = try RunOptions.whole(word, text, 1...1000)
        case "--waste":
            guard let nanoseconds = Double(text), 0...1e6 ~= nanoseconds else {
                throw UsageError("--waste \(text): expected nanoseconds from 0 to 1000000")
            }
            changes.append { $0.waste = .microseconds(nanoseconds / 1000) }
        case "--engines":
            let engines = try RunOptions.whole(word, text, 1...16)
            changes.append { $0.engines = engines }
        case "--shards":
            let shards = try RunOptions.whole(word, text, 1...64)
            changes.append { $0.shards = shards }
        case "--engine": engine = try RunOptions.whole(word, text, 1...16)
        case "--seed":
            guard let seed = UInt64(text) else { throw UsageError("--seed \(text): expected a whole number") }
            changes.append { $0.seed = seed }
        default: throw UsageError("\(word): no such option")
        }
    }
}
