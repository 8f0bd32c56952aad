import Foundation

/// The output of `fanfare replay --json`.
struct Summary: Decodable {
    struct Pushes: Decodable { let sent, accepted, dead, throttled, failed, uncertain: Int }
    struct Goal: Decodable {
        let topic: String
        let seconds: Double?
    }

    let events: Int
    let decisions: [String: Int]
    let updates: Int
    let pushes: Pushes
    let undelivered: Int
    let interrupted: Bool
    let goals: [Goal]
    let seconds: Double
    let cpuMicrosecondsPerPush: Double?
    let peakResidentBytes: Int

    enum CodingKeys: String, CodingKey {
        case events, decisions, updates, pushes, undelivered, interrupted, goals, seconds
        case cpuMicrosecondsPerPush = "cpu_us_per_push"
        case peakResidentBytes = "peak_rss_bytes"
    }

    init(_ end: Program.End) throws {
        guard let line = end.output.split(separator: "\n").last else { throw Failure("no summary; \(end.errors)") }
        self = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
    }
}
