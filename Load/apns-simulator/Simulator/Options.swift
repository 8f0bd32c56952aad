/// Behaviour of a simulator. The defaults are APNs on a good day.
package struct SimulatorOptions: Sendable {
    package enum Mode: String, Sendable {
        /// Checks what APNs checks, on nghttp2: `Simulator`.
        case faithful
        /// Answers as fast as it can, on Fanfare's own codec: `FastSimulator`.
        case fast
    }

    package var mode = Mode.faithful
    package var host = "127.0.0.1"
    /// Port to listen on; 0 takes a free one.
    package var port: UInt16 = 0
    /// Allows addresses other than loopback.
    package var isPublic = false
    /// PEM file of the server's certificate; `keyFile` has its key, `publicKeyFile` the public half of the key that signs provider tokens.
    package var certificateFile = ""
    package var keyFile = ""
    package var publicKeyFile = ""
    /// Public keys that later replace the one of `publicKeyFile`, each with its moment.
    package var keyChanges: [KeyChange] = []
    package var bundleID = ""
    /// Key id, compared with the provider token's `kid` if given; `teamID` is compared with `iss`.
    package var keyID: String?
    package var teamID: String?
    package var dumpFile: String?

    /// Share of tokens that are dead (410), 0–1. `throttleShare` is the share of tokens that accept one push per
    /// `throttleMilliseconds` and answer 429 in between.
    package var deadShare = 0.0
    package var throttleShare = 0.0
    package var throttleMilliseconds = 2000
    /// Share of requests answered with 503.
    package var errorShare = 0.0
    /// Interval at which a connection is lost, together with its answers that have not left.
    package var losesConnection: Stretch?
    /// Answer after which its connection is lost.
    package var losesConnectionAt: Answer?
    /// Interval at which a connection gets a GOAWAY: the connection of the last counted request, or a drawn one.
    package var goesAway: Stretch?
    package var mixes: [AnswerMix] = []
    package var resets: [ResetMix] = []
    /// Share of requests whose stream is reset before the request is examined; `resetShare` is the share reset after it was accepted.
    package var refuseShare = 0.0
    package var resetShare = 0.0
    /// Share of connections closed immediately after they are accepted.
    package var refuseConnectionsShare = 0.0
    /// Milliseconds since the start between which no port is open and all connections are lost.
    package var outageMilliseconds: Range<Int>?
    /// Number of requests after which a connection stays open and is neither read nor written.
    package var silentAfterRequests: Int?
    package var wedge: Wedge?
    /// Most bytes per second read from a connection; `nil` for no limit.
    package var readBytesPerSecond: Int?
    package var latency = AnswerDelay.none
    /// SETTINGS_MAX_CONCURRENT_STREAMS, as seen at APNs.
    package var streams = ValueSchedule(1000)
    /// Flow-control window of each stream; also of the connection if above HTTP/2's 65,535.
    package var windows = ValueSchedule(65_535)
    /// Connection window of a fast simulator; `nil` for a window that never blocks.
    package var fastWindow: Int?
    /// Allows one stream until the first authenticated answer.
    package var isStrictAtStart = true
    package var seed: UInt64 = 1
    /// Seconds by which the simulator's clock is ahead of the machine's; negative if it is behind.
    package var clockAheadSeconds = 0
    /// Age from which phones drop an update. The true limit is not documented: an age of ten seconds has been seen
    /// to do no harm, one of fifty some (spec §3.3).
    package static let stampAgeMaxSeconds = 30
    package var stampAgeMaxSeconds = SimulatorOptions.stampAgeMaxSeconds

    package init() {}
}

extension SimulatorOptions {
    package static let help = """
        apns-simulator: an HTTP/2 server that checks what APNs checks, answers what APNs answers, and remembers
        what it accepted; or, with --mode fast, one that answers a million requests a second and checks nearly nothing.

        usage: apns-simulator --cert FILE --key FILE --public-key FILE --bundle-id ID [options]
               apns-simulator --mode fast --cert FILE --key FILE [options]

          --mode faithful|fast    fast knows the options marked with * (faithful)
        * --listen HOST:PORT      default 127.0.0.1:0; port 0 takes a free one. `listening on HOST:PORT` is printed
        * --public                allows an address other than loopback
        * --cert FILE --key FILE  the server's certificate and key (PEM); Load/certificates.sh makes some
          --public-key FILE[,FILE@N]…
                                  the public half of the key that signs provider tokens (PEM), and of those that take
                                  its place: after N requests, or after N milliseconds with `ms` (new.pem@3000ms)
          --bundle-id ID          topics are ID.push-type.liveactivity
          --key-id K --team-id T  compared with the provider token's kid and iss
          --dump FILE             written at the end: what was accepted, per token (see README.md)

        * --dead-share S          share of tokens that are dead: 410 (0 to 1)
          --throttle-share S      share of tokens that take one push per interval: else 429
          --throttle-interval MS  that interval (2000)
          --error-share S         share of requests answered 503
          --lose-connections N    loses a connection every N requests, or every N milliseconds with `ms` (100ms);
                                  its last answers never leave
          --lose-after REASON     loses the connection on which this is answered, behind the answer (BadDeviceToken)
          --goaway-every N        GOAWAY to a connection every N requests, or every N milliseconds with `ms`
          --answer PREFIX=REASON[*S]  tokens whose hex begins so get this answer: a share S of their requests, or of
                                  the tokens where the answer is about the token (410, BadDeviceToken); repeatable.
                                  REFUSED_STREAM and INTERNAL_ERROR as a reason reset the stream instead, before and
                                  after the request was taken
          --refuse-share S        share of requests whose stream is refused (REFUSED_STREAM): not looked at
          --reset-share S         share of requests taken and then reset (INTERNAL_ERROR): never answered
          --refuse-connections S  share of connections closed as soon as they are there
          --down MS..MS           nobody listens from the first to the second moment after the start
          --silent-after N        after N requests a connection stays open and says nothing any more
          --wedge-after N[=REASON][*S]
                                  after N requests a connection, or a share S of them, takes all that comes and answers
                                  nothing any more, or always this; PINGs are answered
          --read-rate BYTES       a connection is read no faster, per second
        * --latency MS[..MS]      answers wait so long (0), evenly spread; fast knows one number
          --latency MS~MS         most wait near the first, one in a hundred longer than the second (log-normal)
        * --max-streams N[,N@MS]… concurrent streams per connection (1000), and later values: 1000,1@2000,1000@2500
                                  is 1 from 2 s to 2.5 s after the start; `/5000` behind it repeats that every 5 s;
                                  fast knows one number
        * --window N[,N@MS]…      flow-control window of a stream, bytes (65535), in the same way, and of the connection where that is
                                  more; fast knows one number, the connection's (16777216)
          --strict-start on|off   one stream until the first authenticated answer (on)
        * --seed N                of all that is drawn (1)
          --clock SECONDS         its clock is so far ahead of the machine's, or -SECONDS behind (0); a step of the
                                  machine's clock is none of its own
          --stamp-age SECONDS     an update whose stamp is older is refused, as phones drop it (30)

        SIGTERM or SIGINT ends it: the dump is written, one line `summary …` is printed, the exit status is 0.

        example:
          Load/certificates.sh /tmp/certificates
          apns-simulator --listen 127.0.0.1:8443 --cert /tmp/certificates/server.pem \\
              --key /tmp/certificates/server.key --public-key /tmp/certificates/apns.pub.pem \\
              --bundle-id com.example.scores --dead-share 0.05 --dump /tmp/dump.ndjson

        """

    /// Reads the command line, without the program's name.
    package init(arguments: [String]) throws(UsageError) {
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
            try set(OptionValue(option: option, text: text))
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

    private mutating func checkFast(_ given: [String]) throws(UsageError) {
        let known = [
            "--mode", "--listen", "--public", "--cert", "--key", "--dead-share", "--latency", "--max-streams",
            "--window",
            "--seed",
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
        guard given.contains("--window") else { return }
        guard windows.steps.isEmpty, windows.first >= 65_535 else {
            throw UsageError(description: "--window: --mode fast knows one number from 65535, no later values")
        }
        fastWindow = windows.first
    }

    private mutating func set(_ value: OptionValue) throws(UsageError) {
        switch value.option {
        case "--mode":
            guard let mode = Mode(rawValue: value.text) else { throw value.wrong("faithful or fast") }
            self.mode = mode
        case "--listen": try listen(at: value)
        case "--cert": certificateFile = value.text
        case "--key": keyFile = value.text
        case "--public-key": try trust(value)
        case "--bundle-id": bundleID = value.text
        case "--key-id": keyID = value.text
        case "--team-id": teamID = value.text
        case "--dump": dumpFile = value.text
        case "--max-streams": streams = try value.schedule(1...1_000_000)
        case "--window": windows = try value.schedule(1...Int(Int32.max))
        case "--strict-start":
            guard value.text == "on" || value.text == "off" else { throw value.wrong("on or off") }
            isStrictAtStart = value.text == "on"
        case "--seed":
            guard let seed = UInt64(value.text) else { throw value.wrong("a number") }
            self.seed = seed
        case "--clock": clockAheadSeconds = try value.number(-31_536_000...31_536_000)
        case "--stamp-age": stampAgeMaxSeconds = try value.number(0...86_400)
        default: try setTrouble(value)
        }
    }

    private mutating func setTrouble(_ value: OptionValue) throws(UsageError) {
        switch value.option {
        case "--dead-share": deadShare = try value.share()
        case "--throttle-share": throttleShare = try value.share()
        case "--throttle-interval": throttleMilliseconds = try value.number(1...86_400_000)
        case "--error-share": errorShare = try value.share()
        case "--lose-connections": losesConnection = try value.stretch()
        case "--lose-after": losesConnectionAt = try value.answer()
        case "--goaway-every": goesAway = try value.stretch()
        case "--answer": try addAnswer(value)
        case "--refuse-share": refuseShare = try value.share()
        case "--reset-share": resetShare = try value.share()
        case "--refuse-connections": refuseConnectionsShare = try value.share()
        case "--down":
            guard let (from, to) = try value.pair("..", 0...86_400_000), from < to else { throw value.wrong("MS..MS") }
            outageMilliseconds = from..<to
        case "--silent-after": silentAfterRequests = try value.number(1...Int.max)
        case "--wedge-after": try wedge(after: value)
        case "--read-rate": readBytesPerSecond = try value.number(1...Int(Int32.max))
        case "--latency": try delayAnswers(by: value)
        default: throw UsageError(description: "\(value.option): unknown option; --help lists them")
        }
    }

    private mutating func listen(at value: OptionValue) throws(UsageError) {
        let text = value.text
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
            let port = UInt16(text[text.index(after: colon)...])
        else { throw value.wrong("HOST:PORT") }
        host = String(text[..<colon].filter { $0 != "[" && $0 != "]" })
        self.port = port
    }

    private mutating func trust(_ value: OptionValue) throws(UsageError) {
        let files = value.text.split(separator: ",")
        publicKeyFile = files.first.map(String.init) ?? ""
        keyChanges = []
        for file in files.dropFirst() {
            guard let at = file.lastIndex(of: "@"), at != file.startIndex else {
                throw value.wrong("FILE@N behind a comma")
            }
            keyChanges.append(
                KeyChange(file: String(file[..<at]), after: try value.stretch(file[file.index(after: at)...])))
        }
    }

    private mutating func addAnswer(_ value: OptionValue) throws(UsageError) {
        let text = value.text
        guard let equals = text.firstIndex(of: "=") else { throw value.wrong("PREFIX=REASON or PREFIX=REASON*SHARE") }
        let prefix = text[..<equals].lowercased()
        let (reason, share) = value.shared(text[text.index(after: equals)...])
        let mix = value.answer(reason).map { AnswerMix(prefix: prefix, answer: $0, share: share ?? 1) }
        let reset = ResetMix.Code(rawValue: String(reason)).map {
            ResetMix(prefix: prefix, code: $0, share: share ?? 1)
        }
        guard mix != nil || reset != nil, share != nil, prefix.allSatisfy(\.isHexDigit) else {
            throw value.wrong("hex digits, = and a reason such as ExpiredToken, perhaps * and a share")
        }
        if let mix { mixes.append(mix) }
        if let reset { resets.append(reset) }
    }

    private mutating func wedge(after value: OptionValue) throws(UsageError) {
        let (head, share) = value.shared(value.text[...])
        let parts = head.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let reason = parts.count == 2 ? value.answer(parts[1]) : nil
        guard let share, parts.count == 1 || reason != nil else {
            throw value.wrong("a number, perhaps = and a reason such as InternalServerError, perhaps * and a share")
        }
        wedge = Wedge(afterRequests: try value.number(0...Int.max, parts[0]), answer: reason, share: share)
    }

    private mutating func delayAnswers(by value: OptionValue) throws(UsageError) {
        let range = 0...DelayQueue.millisecondsMax
        if let (first, last) = try value.pair("..", range) {
            guard first <= last else { throw value.wrong("the smaller one first") }
            latency = .even(first...last)
        } else if let (median, p99) = try value.pair("~", 1...DelayQueue.millisecondsMax) {
            guard median < p99 else { throw value.wrong("the smaller one first") }
            latency = .skewed(median: median, p99: p99)
        } else {
            let delay = try value.number(range)
            latency = .even(delay...delay)
        }
    }
}
