import Foundation
import Glibc

/// The pushes that a simulator accepted, read from its dump.
struct Dump {
    struct Push {
        /// Milliseconds since the simulator's start.
        let arrival: Int
        let state: [String: Any]
    }

    /// The simulator's start, in milliseconds of the clock of `now`.
    private(set) var started = 0
    /// Accepted pushes by token, in the order of arrival.
    private(set) var accepted: [String: [Push]] = [:]

    init(_ file: String) throws {
        var states: [String: [String: Any]] = [:]
        for line in try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: UInt8(ascii: "\n")) {
            guard let line = try JSONSerialization.jsonObject(with: line) as? [String: Any] else { continue }
            if let hash = line["hash"] as? String { states[hash] = line["state"] as? [String: Any] }
            if let start = line["startedNanoseconds"] as? Int { started = start / 1_000_000 }
            guard let token = line["token"] as? String, let pushes = line["accepted"] as? [[Any]] else { continue }
            accepted[token] = pushes.compactMap { push in
                (push[0] as? Int).map { Push(arrival: $0, state: (push[1] as? String).flatMap { states[$0] } ?? [:]) }
            }
        }
    }

    /// Milliseconds of the clock that all programs on this machine share.
    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Returns the time of each token's first push with such a state.
    func arrivals(where isMeant: ([String: Any]) -> Bool) -> [Int] {
        accepted.values.compactMap { pushes in pushes.first { isMeant($0.state) }?.arrival }
    }
}
