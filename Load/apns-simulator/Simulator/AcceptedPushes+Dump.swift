internal import LoadJSON

extension AcceptedPushes {
    /// Writes the pushes as NDJSON in the format described in `Load/apns-simulator/README.md`.
    func dump(
        to path: String, statistics: Statistics, seed: UInt64, startedNanoseconds: Int64 = 0
    ) throws(FileError) {
        var file = try LineWriter(path: path)
        let stateNames = states.map { name(of: $0) }
        for (state, name) in zip(states, stateNames) {
            try file.line { line in
                line.append(contentsOf: "{\"type\":\"state\",\"hash\":".utf8)
                line.append(contentsOf: name)
                line.append(contentsOf: ",\"state\":".utf8)
                line.append(contentsOf: state)
                line.append(UInt8(ascii: "}"))
            }
        }
        let alertNames = alerts.map { name(of: $0) }
        for (alert, name) in zip(alerts, alertNames) {
            try file.line { line in
                line.append(contentsOf: "{\"type\":\"alert\",\"hash\":".utf8)
                line.append(contentsOf: name)
                // An alert is an object with a title and a body, whose members follow the name.
                line.append(UInt8(ascii: ","))
                line.append(contentsOf: alert.dropFirst())
            }
        }
        var entries: [Entry] = []
        for token in tokens {
            self.entries(of: token, into: &entries)
            try file.line { line in
                line.append(contentsOf: "{\"type\":\"token\",\"token\":".utf8)
                line.append(contentsOf: AcceptedPushes.quotedHex(token.id))
                line.append(contentsOf: ",\"dead\":\(token.isDead),\"accepted\":[".utf8)
                for (index, entry) in entries.enumerated() {
                    if index > 0 { line.append(UInt8(ascii: ",")) }
                    AcceptedPushes.write(entry, stateNames, alertNames, to: &line)
                }
                line.append(contentsOf: "]}".utf8)
            }
        }
        let counters: JSON = [
            "type": "counters", "seed": .string(String(seed)), "startedNanoseconds": .int(startedNanoseconds),
            "tokens": .int(Int64(tokens.count)),
            "accepted": .int(Int64(entryCount)), "unrecorded": .int(Int64(unrecorded)), "counts": statistics.json,
        ]
        try file.line { counters.write(to: &$0) }
        try file.flush()
    }

    private static func write(_ entry: Entry, _ states: [[UInt8]], _ alerts: [[UInt8]], to line: inout [UInt8]) {
        line.append(UInt8(ascii: "["))
        line.append(contentsOf: String(entry.arrival).utf8)
        line.append(UInt8(ascii: ","))
        line.append(contentsOf: entry.stateIndex.map { states[Int($0.rawValue)] } ?? Array("null".utf8))
        line.append(UInt8(ascii: ","))
        line.append(contentsOf: String(entry.stamp).utf8)
        let event: StaticString =
            switch entry.event {
            case .start: ",\"s\","
            case .update: ",\"u\","
            case .end: ",\"e\","
            }
        line.append(contentsOf: "\(event)".utf8)
        line.append(contentsOf: (entry.flags.contains(.immediate) ? "10," : "5,").utf8)
        line.append(contentsOf: entry.alert.map { alerts[Int($0.rawValue)] } ?? Array("null".utf8))
        if entry.flags.contains(.unanswered) { line.append(contentsOf: ",\"unanswered\"".utf8) }
        line.append(UInt8(ascii: "]"))
    }

    /// Returns the name of a state or an alert in this dump: sixteen quoted hex digits of SHA-256.
    private func name(of bytes: [UInt8]) -> [UInt8] { AcceptedPushes.quotedHex(digest(bytes)) }

    private static func quotedHex(_ value: UInt64) -> [UInt8] {
        var text = [UInt8(ascii: "\"")]
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            text.append(JSON.hexDigit(UInt8(value >> shift & 15)))
        }
        text.append(UInt8(ascii: "\""))
        return text
    }
}
