/// How a simulator behaves. Everything not said is like APNs on a good day.
public struct SimulatorOptions: Sendable {
    public enum Mode: String, Sendable {
        /// Checks what APNs checks, on nghttp2: `Simulator`.
        case faithful
        /// Answers as fast as it can, on Fanfare's own codec: `FastSimulator`.
        case fast
    }

    /// How often something happens.
    public enum Every: Sendable, Equatable {
        case requests(Int)
        case milliseconds(Int)
    }

    public var mode = Mode.faithful
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
    /// A connection gets a GOAWAY: the one that brought the last of so many requests, or a drawn one.
    public var goesAway: Every?
    public var mixes: [Mix] = []
    /// Shares of requests whose stream is reset: before the request was looked at, and after it was taken.
    public var refuseShare = 0.0
    public var resetShare = 0.0
    /// Share of connections closed as soon as they are there.
    public var refuseConnectionsShare = 0.0
    /// Nobody listens, and all connections are lost, between these milliseconds since the start.
    public var outageMilliseconds: Range<Int>?
    /// After so many requests a connection is neither read nor written any more, and stays.
    public var silentAfterRequests: Int?
    /// A connection is read no faster.
    public var readBytesPerSecond: Int?
    public var latency = Latency.none
    /// SETTINGS_MAX_CONCURRENT_STREAMS, as seen at APNs.
    public var streams = Schedule(1000)
    /// Flow-control window of each stream; of the connection too, when above HTTP/2's 65,535.
    public var windows = Schedule(65_535)
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
        what it accepted; or, with --mode fast, one that answers a million requests a second and checks nearly nothing.

        usage: apns-simulator --cert FILE --key FILE --public-key FILE --bundle-id ID [options]
               apns-simulator --mode fast --cert FILE --key FILE [options]

          --mode faithful|fast    fast knows the options marked with * (faithful)
        * --listen HOST:PORT      default 127.0.0.1:0; port 0 takes a free one. `listening on HOST:PORT` is printed
        * --public                allows an address other than loopback
        * --cert FILE --key FILE  the server's certificate and key (PEM); Load/certificates.sh makes some
          --public-key FILE       the public half of the key that signs provider tokens (PEM)
          --bundle-id ID          topics are ID.push-type.liveactivity
          --key-id K --team-id T  compared with the provider token's kid and iss
          --dump FILE             written at the end: what was accepted, per token (see README.md)

        * --dead-share S          share of tokens that are dead: 410 (0 to 1)
          --throttle-share S      share of tokens that take one push per interval: else 429
          --throttle-interval MS  that interval (2000)
          --error-share S         share of requests answered 503
          --lose-connections N    loses a connection every N requests, or every N milliseconds with `ms` (100ms);
                                  its last answers never leave
          --goaway-every N        GOAWAY to a connection every N requests, or every N milliseconds with `ms`
          --answer PREFIX=REASON[*S]  tokens whose hex begins so get this answer: a share S of their requests, or of
                                  the tokens where the answer is about the token (410, BadDeviceToken); repeatable
          --refuse-share S        share of requests whose stream is refused (REFUSED_STREAM): not looked at
          --reset-share S         share of requests taken and then reset (INTERNAL_ERROR): never answered
          --refuse-connections S  share of connections closed as soon as they are there
          --down MS..MS           nobody listens from the first to the second moment after the start
          --silent-after N        after N requests a connection stays open and says nothing any more
          --read-rate BYTES       a connection is read no faster, per second
        * --latency MS[..MS]      answers wait so long (0), evenly spread; fast knows one number
          --latency MS~MS         most wait near the first, one in a hundred longer than the second (log-normal)
        * --max-streams N[,N@MS]… concurrent streams per connection (1000), and later values: 1000,1@2000,1000@2500
                                  is 1 from 2 s to 2.5 s after the start; `/5000` behind it repeats that every 5 s;
                                  fast knows one number
          --window N[,N@MS]…      flow-control window of a stream, bytes (65535), in the same way
          --strict-start on|off   one stream until the first authenticated answer (on)
        * --seed N                of all that is drawn (1)

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
        var given: [String] = []
        while let option = rest.popFirst() {
            given.append(option)
            if option == "--public" {
                isPublic = true
                continue
            }
            guard let text = rest.popFirst() else {
                throw UsageError(description: "\(option): unknown, or a value is missing")
            }
            try set(option, text)
        }
        var needed = [("--cert", certificateFile), ("--key", keyFile)]
        switch mode {
        case .faithful: needed += [("--public-key", publicKeyFile), ("--bundle-id", bundleID)]
        case .fast: try checkFast(given)
        }
        for (option, value) in needed where value.isEmpty { throw UsageError(description: "\(option) is missing") }
        guard isPublic || ["127.0.0.1", "::1", "localhost"].contains(host) else {
            throw UsageError(description: "--listen \(host): not a loopback address; add --public if that is meant")
        }
    }

    private func checkFast(_ given: [String]) throws(UsageError) {
        let known = [
            "--mode", "--listen", "--public", "--cert", "--key", "--dead-share", "--latency", "--max-streams", "--seed",
        ]
        if let option = given.first(where: { !known.contains($0) }) {
            throw UsageError(
                description: "\(option): --mode fast does not support it; it knows \(known.joined(separator: ", "))")
        }
        guard case .even(let delay) = latency, delay.count == 1 else {
            throw UsageError(description: "--latency: --mode fast knows one number of milliseconds, no range")
        }
        guard streams.steps.isEmpty else {
            throw UsageError(description: "--max-streams: --mode fast knows one number, no later values")
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
        func every() throws(UsageError) -> Every {
            text.hasSuffix("ms")
                ? .milliseconds(try number(1...86_400_000, text.dropLast(2))) : .requests(try number(1...Int.max, text))
        }
        /// Two numbers with this between them; `nil` when it is not there.
        func pair(_ separator: String, _ range: ClosedRange<Int>) throws(UsageError) -> (Int, Int)? {
            guard let middle = text.firstRange(of: separator) else { return nil }
            return (
                try number(range, text[..<middle.lowerBound]), try number(range, text[middle.upperBound...])
            )
        }
        func schedule(_ range: ClosedRange<Int>) throws(UsageError) -> Schedule {
            let halves = text.split(separator: "/", omittingEmptySubsequences: false)
            guard halves.count <= 2 else { throw wrong("one / at most") }
            let values = halves[0].split(separator: ",", omittingEmptySubsequences: false)
            var schedule = Schedule(try number(range, values[0]))
            for value in values.dropFirst() {
                let ends = value.split(separator: "@", omittingEmptySubsequences: false)
                guard ends.count == 2 else { throw wrong("N@MS behind each comma") }
                let at = try number((schedule.steps.last?.at ?? 0) + 1...86_400_000, ends[1])
                schedule.steps.append(Schedule.Step(at: at, value: try number(range, ends[0])))
            }
            if halves.count == 2 {
                guard let last = schedule.steps.last else { throw wrong("something to repeat before the /") }
                schedule.round = try number(last.at + 1...86_400_000, halves[1])
            }
            return schedule
        }
        switch option {
        case "--mode":
            guard let value = Mode(rawValue: text) else { throw wrong("faithful or fast") }
            mode = value
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
            losesConnection = try every()
        case "--goaway-every": goesAway = try every()
        case "--answer":
            guard let equals = text.firstIndex(of: "=") else { throw wrong("PREFIX=REASON or PREFIX=REASON*SHARE") }
            let parts = text[text.index(after: equals)...].split(separator: "*", maxSplits: 1)
            let prefix = text[..<equals].lowercased()
            let answer = Answer.allCases.first { $0 != .accepted && $0.reason == parts.first.map(String.init) }
            let share = parts.count == 2 ? Double(parts[1]) ?? -1 : 1
            guard let answer, (0...1).contains(share), prefix.allSatisfy(\.isHexDigit) else {
                throw wrong("hex digits, = and a reason such as ExpiredToken, perhaps * and a share")
            }
            mixes.append(Mix(prefix: prefix, answer: answer, share: share))
        case "--refuse-share": refuseShare = try share()
        case "--reset-share": resetShare = try share()
        case "--refuse-connections": refuseConnectionsShare = try share()
        case "--down":
            guard let (from, to) = try pair("..", 0...86_400_000), from < to else { throw wrong("MS..MS") }
            outageMilliseconds = from..<to
        case "--silent-after": silentAfterRequests = try number(1...Int.max, text)
        case "--read-rate": readBytesPerSecond = try number(1...Int(Int32.max), text)
        case "--latency":
            if let (first, last) = try pair("..", 0...DelayQueue.millisecondsMax) {
                guard first <= last else { throw wrong("the smaller one first") }
                latency = .even(first...last)
            } else if let (median, p99) = try pair("~", 1...DelayQueue.millisecondsMax) {
                guard median < p99 else { throw wrong("the smaller one first") }
                latency = .skewed(median: median, p99: p99)
            } else {
                let delay = try number(0...DelayQueue.millisecondsMax, text)
                latency = .even(delay...delay)
            }
        case "--max-streams": streams = try schedule(1...1_000_000)
        case "--window": windows = try schedule(1...Int(Int32.max))
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
