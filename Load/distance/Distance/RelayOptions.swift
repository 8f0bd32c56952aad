/// Options of a relay: addresses, simulated distance and limits.
package struct RelayOptions: Sendable {
    package struct Place: Sendable, Equatable {
        package var host: String
        package var port: UInt16
    }

    /// Address to listen on; port 0 takes a free one.
    package var listen = Place(host: "127.0.0.1", port: 0)
    package var target = Place(host: "127.0.0.1", port: 0)
    package var roundTripMilliseconds = 0.0
    package var jitterMilliseconds = 0.0
    package var bytesPerSecond: Int?
    package var lossShare = 0.0
    package var slowStart = SlowStart.always
    /// Range of a stall's length, and the time between two stalls; each holds up one connection. `nil`: no stalls.
    package var stallMilliseconds: ClosedRange<Double>?
    package var stallEveryMilliseconds = 5000.0
    /// Most connections at a time; further ones are closed at once.
    package var connectionsMax = Int.max
    package var seed: UInt64 = 1

    package init() {}

    var way: Way.Options {
        Way.Options(
            delay: Int64(roundTripMilliseconds * 500_000), jitter: Int64(jitterMilliseconds * 1_000_000),
            bytesPerSecond: bytesPerSecond, lossShare: lossShare, slowStart: slowStart)
    }
}

/// A fault in the command line: what was given, and what would be right.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String
}

extension RelayOptions {
    package static let help = """
        apns-distance: a relay that makes a server on this machine look far away, where the kernel has no netem.

        usage: apns-distance --to ADDRESS:PORT --round-trip MS [options]

          --listen ADDRESS:PORT   default 127.0.0.1:0, loopback only; port 0 takes a free one. `listening on ADDRESS:PORT` is printed
          --to ADDRESS:PORT       the server
          --round-trip MS         half of it for each direction; TCP's handshake takes one as well (0 to 60000)
          --jitter MS             up to so much later, evenly drawn; nothing overtakes on a connection (0)
          --rate BYTES            per second, of each connection in each direction (as fast as it goes)
          --loss S                share of 1460-byte segments that are lost (0 to 1): all behind waits a round trip (0)
          --slow-start on|first|off
                                  as TCP: 14,600 bytes in the first round trip, twice as many in each further one up to 4 MiB, and
                                  half as many for each round trip and 200 ms of idleness; first: not after idleness, as Linux
                                  with net.ipv4.tcp_slow_start_after_idle=0 (on)
          --stall MS..MS          now and then one connection, drawn, is held up for so long in both directions
          --stall-every MS        time between two stalls (5000)
          --connections N         at a time; further ones are closed at once
          --seed N                of all that is drawn (1)

        Delays are right on average, to half a millisecond. A direction holds 4 MiB; beyond that its sender is held back.
        SIGTERM or SIGINT ends it; one line `summary …` is printed, the exit status is 0.

        example:
          apns-distance --to 127.0.0.1:8443 --round-trip 50

        """

    /// Reads the command line, without the program's name.
    package init(arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        var given: Set<String> = []
        while let option = rest.popFirst() {
            guard let text = rest.popFirst() else {
                throw UsageError(description: "\(option): unknown, or a value is missing")
            }
            guard given.insert(option).inserted else { throw UsageError(description: "\(option): given twice") }
            try set(option, text)
        }
        for needed in ["--to", "--round-trip"] where !given.contains(needed) {
            throw UsageError(description: "\(needed) is missing")
        }
        guard ["127.0.0.1", "::1"].contains(listen.host) else {
            throw UsageError(description: "--listen \(listen.host): not a loopback address, as 127.0.0.1 and ::1 are")
        }
    }

    private mutating func set(_ option: String, _ text: String) throws(UsageError) {
        func wrong(_ expected: String) -> UsageError {
            UsageError(description: "\(option) \(text): expected \(expected)")
        }
        func place(leastPort: UInt16) throws(UsageError) -> Place {
            guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
                let port = UInt16(text[text.index(after: colon)...]), port >= leastPort
            else { throw wrong("ADDRESS:PORT") }
            return Place(host: String(text[..<colon].filter { $0 != "[" && $0 != "]" }), port: port)
        }
        func milliseconds() throws(UsageError) -> Double {
            guard let value = Double(text), (0...60_000).contains(value) else {
                throw wrong("milliseconds from 0 to 60000")
            }
            return value
        }
        func count() throws(UsageError) -> Int {
            guard let value = Int(text), value > 0, value <= Int(Int32.max) else {
                throw wrong("a whole number from 1 to \(Int32.max)")
            }
            return value
        }
        switch option {
        case "--listen": listen = try place(leastPort: 0)
        case "--to": target = try place(leastPort: 1)
        case "--round-trip": roundTripMilliseconds = try milliseconds()
        case "--jitter": jitterMilliseconds = try milliseconds()
        case "--rate": bytesPerSecond = try count()
        case "--loss":
            guard let value = Double(text), (0...1).contains(value) else { throw wrong("a share from 0 to 1") }
            lossShare = value
        case "--slow-start":
            guard let value = SlowStart(rawValue: text) else { throw wrong("on, first or off") }
            slowStart = value
        case "--stall":
            let bounds = text.components(around: "..").compactMap(Double.init)
            guard bounds.count == 2, bounds[0] > 0, bounds[0] <= bounds[1], bounds[1] <= 60_000 else {
                throw wrong("two times in milliseconds, as 200..400, at most 60000")
            }
            stallMilliseconds = bounds[0]...bounds[1]
        case "--stall-every":
            stallEveryMilliseconds = try milliseconds()
            guard stallEveryMilliseconds >= 1 else { throw wrong("milliseconds from 1 to 60000") }
        case "--connections": connectionsMax = try count()
        case "--seed":
            guard let value = UInt64(text) else { throw wrong("a whole number from 0") }
            seed = value
        default: throw UsageError(description: "\(option): unknown option; --help lists them")
        }
    }
}

extension String {
    /// The text before and after the separator; the whole text if there is none.
    fileprivate func components(around separator: String) -> [String] {
        guard let range = firstRange(of: separator) else { return [self] }
        return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
    }
}
