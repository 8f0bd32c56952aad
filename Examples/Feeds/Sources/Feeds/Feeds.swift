import Fanfare
import FanfareFeeds
import FanfareRules
import Foundation

/// Small feed backend with files: `Feeds RULES FEED…` reads a rules file and feeds of any format, and prints each decision.
///
/// `.discard` takes every push and sends nothing.
@main struct Feeds {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count > 1 else { fail("usage: Feeds RULES FEED…") }
        var options = Engine.Options(transport: .discard)
        options.rules = await rules(at: arguments[0])
        let engine = try await Engine.launch(options)
        // The buffer holds every record of a small feed, so none is lost while the task below waits for a processor.
        let decisions = engine.decisions(buffering: 100_000)
        let listening = Task {
            for await record in decisions { print("\(record.kind): \(record.outcome.rawValue), \(record.reason)") }
        }
        try await play(Array(arguments.dropFirst()), on: engine)
        let report = await engine.shutdown(within: .seconds(10))
        await listening.value
        print("all delivered: \(report.isDrained)")
    }

    private static func rules(at path: String) async -> Rules {
        do {
            return try await Rules.read(file: path)
        } catch {
            // An editor shows these places beside the file.
            for fault in error.faults { print("line \(fault.line), column \(fault.column): \(fault.text)") }
            fail(error.isUnreadable ? "\(error)" : "\(path) has \(error.faults.count) faults")
        }
    }

    private static func play(_ paths: [String], on engine: Engine) async throws {
        let feed: FeedSequence
        do { feed = try await FeedSequence(paths: paths) } catch { fail("\(error)") }
        for await (_, item) in feed {
            switch item {
            // A recording is taken as fast as the engine decides it. A feed of today comes line by line to a `NativeLineDecoder`.
            case .event(let event): _ = try await engine.ingest(event)
            case .rejected(let rejection): print("\(rejection.location): not an event, \(rejection.reason)")
            case .noticed(let notice): print(notice)
            }
        }
    }

    private static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data("Feeds: \(text)\n".utf8))
        exit(2)
    }
}
