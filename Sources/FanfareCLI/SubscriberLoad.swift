import FanfareFeeds
import FanfareLoop
import FanfareModel

/// Loads a subscriber file into the engine and reports the progress on standard error.
struct SubscriberLoad {
    let file: SubscriberFile
    private let began = MonotonicTime(nanoseconds: Clock.monotonicNanoseconds())

    init(_ path: String) throws(UsageError) {
        let isTerminal = Console.columns != nil
        do throws(FeedError) {
            file = try SubscriberFile(
                path: path, report: { Console.complain(Console.quoted($0)) },
                progress: { progress in
                    guard isTerminal else { return }
                    let (read, expected) = (progress.sizeRead.bytes, progress.sizeExpected.bytes)
                    let share = expected > 0 ? read * 100 / expected : 100
                    Console.complain(
                        "\r\(min(share, 100))%  \(progress.subscribers.counted("subscriber"))", terminator: "")
                })
        } catch {
            throw UsageError("--subscribers \(error)")
        }
    }

    /// Reports the result of the finished load.
    func reportResult() {
        let seconds = (MonotonicTime(nanoseconds: Clock.monotonicNanoseconds()) - began) / .seconds(1)
        let broken = file.brokenLines > 0 ? ", \(file.brokenLines.counted("broken line"))" : ""
        let line = "\(file.path): \(file.subscribers.counted("subscriber")) in \(seconds.fixed(1)) s\(broken)"
        // The replay is about to run: from here on, no output waits for its reader.
        Console.errors.offer(Array(((Console.columns == nil ? "" : "\r") + line + "\n").utf8))
    }
}
