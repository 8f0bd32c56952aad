/// How a simulator behaves. Everything not said is like APNs on a good day.
public struct SimulatorOptions: Sendable {
    /// How often something happens.
    public enum Every: Sendable, Equatable {
        case requests(Int)
        case milliseconds(Int)
    }

    public var host = "127.0.0.1"
    /// 0 takes a free one.
    public var port: UInt16 = 0
    /// Without it only loopback addresses are listened on.
    public var isPublic = false
    /// PEM files: the server's certificate and key, and the public half of the key that signs provider tokens.
    public var certificateFile = ""
    public var keyFile = ""
    public var publicKeyFile = ""
    public var bundleID = ""
    /// Compared with the provider token's `kid` and `iss` when given.
    public var keyID: String?
    public var teamID: String?
    public var dumpFile: String?

    /// Shares from 0 to 1 of tokens that are dead (410), and of tokens that take one push per `throttleMilliseconds`
    /// (429 in between).
    public var deadShare = 0.0
    public var throttleShare = 0.0
    public var throttleMilliseconds = 2000
    /// Share of requests answered 503.
    public var errorShare = 0.0
    /// A connection is lost, with the answers that have not left.
    public var losesConnection: Every?
    /// After so many requests the connection that brought the last one gets a GOAWAY.
    public var goAwayEvery: Int?
    /// Answers wait so long, evenly spread over the range.
    public var latencyMilliseconds: ClosedRange<Int> = 0...0
    /// SETTINGS_MAX_CONCURRENT_STREAMS, as seen at APNs.
    public var streamsMax = 1000
    /// Flow-control window of each stream; of the connection too, when above HTTP/2's 65,535.
    public var window = 65_535
    /// One stream until the first authenticated answer.
    public var isStrictAtStart = true
    public var seed: UInt64 = 1

    public init() {}
}

/// A command line that makes no sense: what, and what would.
public struct UsageError: Error, CustomStringConvertible {
    public let description: String
}

extension SimulatorOptions {
    public static let help = """
        apns-simulator: an HTTP/2 server that checks what APNs checks, answers what APNs answers, and remembers
        what it accepted.

        usage: apns-simulator --cert FILE --key FILE --public-key FILE --bundle-id ID [options]

          --listen HOST:PORT      default 127.0.0.1:0; port 0 takes a free one. `listening on HOST:PORT` is printed
          --public                allows an address other than loopback
          --cert FILE --key FILE  the server's certificate and key (PEM); Load/certificates.sh makes some
          --public-key FILE       the public half of the key that signs provider tokens (PEM)
          --bundle-id ID          topics are ID.push-type.liveactivity
          --key-id K --team-id T  compared with the provider token's kid and iss
          --dump FILE             written at the end: what was accepted, per token (see README.md)

          --dead-share S          share of tokens that are dead: 410 (0 to 1)
          --throttle-share S      share of tokens that take one push per interval: else 429
          --throttle-interval MS  that interval (2000)
          --error-share S         share of requests answered 503
          --lose-connections N    loses a connection every N requests, or every N milliseconds with `ms` (100ms);
                                  its last answers never leave
          --goaway-every N        GOAWAY to a connection every N requests
          --latency MS[..MS]      answers wait so long (0)
          --max-streams N         concurrent streams per connection (1000)
          --window BYTES          flow-control window (65535)
          --strict-start on|off   one stream until the first authenticated answer (on)
          --seed N                of all that is drawn (1)

        SIGTERM or SIGINT ends it: the dump is written, one line `summary …` is printed, the exit status is 0.

        example:
          Load/certificates.sh /tmp/certificates
          apns-simulator --listen 127.0.0.1:8443 --cert /tmp/certificates/server.pem \\
              --key /tmp/certificates/server.key --public-key /tmp/certificates/apns.pub.pem \\
              --bundle-id com.example.scores --dead-share 0.05 --dump /tmp/dump.ndjson

        """

    /// Reads the command line without the program's name.
    public init(arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--public" {
                isPublic = true
                continue
            }
            guard let text = rest.popFirst() else {
                throw UsageError(description: "\(option): unknown, or a value is missing")
            }
            try set(option, text)
        }
        for (option, value) in [
            ("--cert", certificateFile), ("--key", keyFile), ("--public-key", publicKeyFile), ("--bundle-id", bundleID),
        ] where value.isEmpty {
            throw UsageError(description: "\(option) is missing")
        }
        guard isPublic || ["127.0.0.1", "::1", "localhost"].contains(host) else {
            throw UsageError(description: "--listen \(host): not a loopback address; add --public if that is meant")
        }
    }

    private mutating func set(_ option: String, _ text: String) throws(UsageError) {
        func wrong(_ expected: String) -> UsageError {
            UsageError(description: "\(option) \(text): expected \(expected)")
        }
        func number(_ range: ClosedRange<Int>, _ text: some StringProtocol) throws(UsageError) -> Int {
            guard let value = Int(text), range.contains(value) else {
                throw wrong("a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
        func share() throws(UsageError) -> Double {
            guard let value = Double(text), (0...1).contains(value) else { throw wrong("a share from 0 to 1") }
            return value
        }
        switch option {
        case "--listen":
            guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
                let port = UInt16(text[text.index(after: colon)...])
            else { throw wrong("HOST:PORT") }
            host = String(text[..<colon].filter { $0 != "[" && $0 != "]" })
            self.port = port
        case "--cert": certificateFile = text
        case "--key": keyFile = text
        case "--public-key": publicKeyFile = text
        case "--bundle-id": bundleID = text
        case "--key-id": keyID = text
        case "--team-id": teamID = text
        case "--dump": dumpFile = text
        case "--dead-share": deadShare = try share()
        case "--throttle-share": throttleShare = try share()
        case "--throttle-interval": throttleMilliseconds = try number(1...86_400_000, text)
        case "--error-share": errorShare = try share()
        case "--lose-connections":
            losesConnection =
                text.hasSuffix("ms")
                ? .milliseconds(try number(1...86_400_000, text.dropLast(2))) : .requests(try number(1...Int.max, text))
        case "--goaway-every": goAwayEvery = try number(1...Int.max, text)
        case "--latency":
            let ends = text.split(separator: ".", omittingEmptySubsequences: true)
            let isRange = ends.count == 2 && text == "\(ends[0])..\(ends[1])"
            guard ends.count == 1 && text == ends[0] || isRange else { throw wrong("MS or MS..MS") }
            let first = try number(0...DelayQueue.millisecondsMax, ends[0])
            let last = isRange ? try number(first...DelayQueue.millisecondsMax, ends[1]) : first
            latencyMilliseconds = first...last
        case "--max-streams": streamsMax = try number(1...1_000_000, text)
        case "--window": window = try number(1...Int(Int32.max), text)
        case "--strict-start":
            guard text == "on" || text == "off" else { throw wrong("on or off") }
            isStrictAtStart = text == "on"
        case "--seed":
            guard let value = UInt64(text) else { throw wrong("a number") }
            seed = value
        default: throw UsageError(description: "\(option): unknown option; --help lists them")
        }
    }
}
