import CFanfareBench
import CountAllocations
import FanfareDecisions
import FanfareFeeds
import FanfareModel
import Glibc

/// Whole feeds through decoder and decision core on one processor, without a fan-out.
enum Decisions {
    /// Prints one JSON object: for each feed, events per second of processor time and allocations per event, for decoding alone and for
    /// decoding and deciding. Includes recorded feeds only if `FANFARE_FEEDS` names their folder.
    ///
    /// - Parameters:
    ///   - events: least number of events of each feed, which is read repeatedly.
    ///   - only: the one feed to run; `nil` for all.
    static func report(events: Int, only: String?) {
        var lines: [String] = []
        func isWanted(_ name: String) -> Bool { only == nil || only == name }
        for generated in [GeneratedFeed.matchDay, .orders] where isWanted("native/\(generated.rawValue)") {
            let file = NativeFile(generated)
            lines.append(line("native/\(generated.rawValue)", [file.path], events))
        }
        if let folder = getenv("FANFARE_FEEDS").map({ String(cString: $0) }), !folder.isEmpty {
            for (name, recording) in [
                ("wyscout", "wyscout-football"), ("dfl", "dfl-football"), ("pwhl", "pwhl-hockey"),
                ("dvw", "volleyball-dvw"), ("gtfs-rt", "nyct-gtfsrt"),
            ] where isWanted(name) { lines.append(line(name, ["\(folder)/\(recording)"], events)) }
        }
        print("{\(lines.joined(separator: ",\n"))}")
    }

    private static func line(_ name: String, _ paths: [String], _ events: Int) -> String {
        // The first pass is not measured; later passes read the files from the page cache.
        _ = pass(paths, decides: true)
        let (decoded, decided) = (measure(paths, events, decides: false), measure(paths, events, decides: true))
        return """
            "\(name)": {"decoded": \(Int(decoded.perSecond)), "decided": \(Int(decided.perSecond)), \
            "decoding_allocates": \(decoded.allocations), "deciding_allocates": \(decided.allocations)}
            """
    }

    private static func measure(
        _ paths: [String], _ events: Int, decides: Bool
    ) -> (perSecond: Double, allocations: Double) {
        var count = 0
        let allocations = allocations_of_this_thread()
        let seconds = processorSeconds()
        while count < events { count += pass(paths, decides: decides) }
        let perSecond = Double(count) / (processorSeconds() - seconds)
        let each = Double(allocations_of_this_thread() - allocations) / Double(count)
        return (perSecond, (each * 100).rounded() / 100)
    }

    /// - Returns: number of events and rejections.
    private static func pass(_ paths: [String], decides: Bool) -> Int {
        let feed: Feed
        // A benchmark without its feed cannot report anything but this error.
        do { feed = try Feed(paths: paths) } catch { fatalError("fanfare-bench: \(error)") }
        var core = DecisionCore(isLive: false)
        var decisions: [Decision] = []
        var count = 0
        while let (now, item) = feed.next() {
            count += 1
            guard decides else { continue }
            decisions.removeAll(keepingCapacity: true)
            switch consume item {
            case .event(let event): core.apply(event, now: now, into: &decisions)
            case .rejected(let rejection): core.reject(rejection, now: now, into: &decisions)
            case .noticed: break
            }
        }
        return count
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A generated feed in a temporary file, which is deleted with this object.
private final class NativeFile {
    let path: String

    init(_ feed: GeneratedFeed) {
        var name = Array("\(P_tmpdir)/fanfare-bench-XXXXXX.ndjson".utf8CString)
        let descriptor = mkstemps(&name, 7)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else {
            // Without the file there is nothing to measure.
            fatalError("fanfare-bench: no file for the feed in \(P_tmpdir): \(String(cString: strerror(errno)))")
        }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        feed.write(seed: 1) { fwrite($0, 1, $0.count, file) }
        fclose(file)
    }

    deinit { unlink(path) }
}
