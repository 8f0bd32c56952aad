import Foundation

/// What a simulator accepted, as its dump has it.
struct Dump {
    struct Push {
        /// Milliseconds since the simulator's start.
        let arrival: Int
        let state: [String: Any]
    }

    /// By token, in the order of arrival.
    private(set) var accepted: [String: [Push]] = [:]

    init(_ file: String) throws {
        var states: [String: [String: Any]] = [:]
        for line in try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: UInt8(ascii: "\n")) {
            guard let line = try JSONSerialization.jsonObject(with: line) as? [String: Any] else { continue }
            if let hash = line["hash"] as? String { states[hash] = line["state"] as? [String: Any] }
            guard let token = line["token"] as? String, let pushes = line["accepted"] as? [[Any]] else { continue }
            accepted[token] = pushes.compactMap { push in
                (push[0] as? Int).map { Push(arrival: $0, state: (push[1] as? String).flatMap { states[$0] } ?? [:]) }
            }
        }
    }

    /// When each token accepted this state first.
    func arrivals(where isMeant: ([String: Any]) -> Bool) -> [Int] {
        accepted.values.compactMap { pushes in pushes.first { isMeant($0.state) }?.arrival }
    }
}
