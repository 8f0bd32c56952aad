internal import LoadJSON

/// Counters of a simulator. Never contain a token.
package struct Statistics: Sendable {
    /// Most distinct faults counted by text; the rest are counted together.
    private static let payloadFaultsMax = 64

    private var answers = [Int](repeating: 0, count: Answer.allCases.count)
    package private(set) var requests = 0
    /// `BadRequestPayload` refusals by fault.
    package private(set) var payloadFaults: [String: Int] = [:]
    package internal(set) var connections = 0
    /// Connections lost on purpose (`--lose-connections`).
    package internal(set) var connectionsLost = 0
    package internal(set) var goAways = 0
    /// Connections closed before the handshake (`--refuse-connections`); `connectionsSilent`
    /// counts those that fell silent (`--silent-after`).
    package internal(set) var connectionsRefused = 0
    package internal(set) var connectionsSilent = 0
    /// Connections that take requests and answer none, or all alike (`--wedge-after`).
    package internal(set) var connectionsWedged = 0
    /// Streams reset before their request was examined (`--refuse-share`); `failedStreams` counts those
    /// reset after it was accepted (`--reset-share`).
    package internal(set) var refusedStreams = 0
    package internal(set) var failedStreams = 0
    /// Requests whose answer never left.
    package internal(set) var unanswered = 0
    /// Number of requests in the busiest second.
    package private(set) var peakPerSecond = 0
    private var second: UInt32 = 0
    private var inSecond = 0

    package subscript(answer: Answer) -> Int { answers[Int(answer.rawValue)] }

    mutating func count(_ answer: Answer, second now: UInt32) {
        requests += 1
        answers[Int(answer.rawValue)] += 1
        if now != second {
            second = now
            inSecond = 0
        }
        inSecond += 1
        peakPerSecond = max(peakPerSecond, inSecond)
    }

    mutating func count(payloadFault text: String) {
        let known = payloadFaults[text] != nil || payloadFaults.count < Statistics.payloadFaultsMax
        payloadFaults[known ? text : "other faults", default: 0] += 1
    }

    /// One line of `key=value` pairs, for people and for `grep`. Omits answers that never occurred.
    package func summary(cpuSeconds: Double) -> String {
        var parts = ["requests=\(requests)"]
        for answer in Answer.allCases where answer == .accepted || self[answer] > 0 {
            parts.append("\(answer.reason)=\(self[answer])")
        }
        parts += [
            "unanswered=\(unanswered)", "connections=\(connections)", "lost=\(connectionsLost)", "goaways=\(goAways)",
            "refused=\(connectionsRefused)", "silent=\(connectionsSilent)", "wedged=\(connectionsWedged)",
            "refused_streams=\(refusedStreams)", "reset_streams=\(failedStreams)", "peak_per_second=\(peakPerSecond)",
            "cpu_seconds=\((cpuSeconds * 100).rounded() / 100)",
        ]
        return parts.joined(separator: " ")
    }

    /// The counters as the dump's last line has them.
    var json: JSON {
        let byAnswer = Answer.allCases.filter { self[$0] > 0 }
            .map { JSON.Object.Member(key: $0.reason, value: .int(Int64(self[$0]))) }
        let faults = payloadFaults.map { JSON.Object.Member(key: $0.key, value: .int(Int64($0.value))) }
        return [
            "requests": .int(Int64(requests)), "answers": JSON.Object(byAnswer).map(JSON.object) ?? .null,
            "payloadFaults": JSON.Object(faults).map(JSON.object) ?? .null, "unanswered": .int(Int64(unanswered)),
            "connections": .int(Int64(connections)), "connectionsLost": .int(Int64(connectionsLost)),
            "goAways": .int(Int64(goAways)), "connectionsRefused": .int(Int64(connectionsRefused)),
            "connectionsSilent": .int(Int64(connectionsSilent)),
            "connectionsWedged": .int(Int64(connectionsWedged)), "refusedStreams": .int(Int64(refusedStreams)),
            "resetStreams": .int(Int64(failedStreams)), "peakPerSecond": .int(Int64(peakPerSecond)),
        ]
    }
}
