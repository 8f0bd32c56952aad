import Foundation

/// The worlds that a test plays which kills an engine: as many as it names, or those that its environment asks for.
struct CrashSeeds {
    let seeds: Range<UInt64>
    /// Prints what happens, if that is asked for.
    let tell: ((String) -> Void)?

    init(_ count: UInt64) {
        func asked(_ name: String) -> UInt64? {
            ProcessInfo.processInfo.environment["FANFARE_CRASH_" + name].flatMap { UInt64($0) }
        }
        let first = asked("SEED") ?? 1
        seeds = first..<first + (asked("WORLDS") ?? count)
        tell = asked("TELL").map { _ in { print($0) } }
    }
}
