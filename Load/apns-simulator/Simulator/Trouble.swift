internal import FanfareLoop
internal import Glibc

extension SimulatorOptions {
    /// A number that changes while the simulator runs.
    package struct Schedule: Sendable, Equatable {
        package struct Step: Sendable, Equatable {
            /// Milliseconds since the simulator's start, or since the start of a period.
            package var at: Int
            package var value: Int
            package init(at: Int, value: Int) {
                self.at = at
                self.value = value
            }
        }

        package var first: Int
        /// Steps in the order of their times; the first is later than 0.
        package var steps: [Step]
        /// Milliseconds after which the schedule starts again, later than the last step; `nil` for never.
        package var period: Int?

        package init(_ first: Int, _ steps: [Step] = [], period: Int? = nil) {
            self.first = first
            self.steps = steps
            self.period = period
        }

        package func value(at now: Int) -> Int {
            let now = period.map { now % $0 } ?? now
            return steps.last { $0.at <= now }?.value ?? first
        }

        /// Returns the time of the next change; `nil` if there is none.
        package func change(after now: Int) -> Int? {
            guard let last = steps.last else { return nil }
            guard let period else { return now < last.at ? steps.first { $0.at > now }?.at : nil }
            let start = now - now % period
            return start + (steps.first { $0.at > now - start }?.at ?? period)
        }
    }

    /// Delay of answers in milliseconds.
    package enum Latency: Sendable, Equatable {
        case even(ClosedRange<Int>)
        /// Log-normal distribution: most delays are near the median, one in a hundred exceeds `p99`.
        case skewed(median: Int, p99: Int)

        package static let none = Latency.even(0...0)

        /// Upper limit of the delays.
        var most: Int {
            switch self {
            case .even(let range): range.upperBound
            case .skewed(_, let p99): min(DelayQueue.millisecondsMax, 10 * p99)
            }
        }

        /// - Parameter random: returns uniformly distributed bits.
        func draw(_ random: () -> UInt64) -> Int {
            switch self {
            case .even(let range): return range.lowerBound + Int(random() % UInt64(range.count))
            case .skewed(let median, let p99):
                // Normal deviate by Box and Muller; the 99th percentile lies 2.326 standard deviations above the median.
                let u = (Double(random() >> 11) + 1) * 0x1p-53
                let v = Double(random() >> 11) * 0x1p-53
                let normal = (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
                let factor = exp(normal * log(Double(p99) / Double(median)) / 2.326)
                return min(most, Int(Double(median) * factor))
            }
        }
    }

    /// Answer to tokens with a given prefix.
    package struct Mix: Sendable, Equatable {
        /// Prefix of the tokens, in lower-case hex digits.
        package var prefix: String
        package var answer: Answer
        /// Share of the tokens, 0–1, for an answer about the token (410, `BadDeviceToken`); share of the requests for any other answer.
        package var share: Double

        package init(prefix: String, answer: Answer, share: Double = 1) {
            self.prefix = prefix
            self.answer = answer
            self.share = share
        }

        func covers(_ token: ArraySlice<UInt8>) -> Bool { begins(token, with: prefix) }
    }

    /// Stream resets for the requests of tokens with a given prefix.
    package struct Reset: Sendable, Equatable {
        /// Prefix of the tokens, in lower-case hex digits.
        package var prefix: String
        package var code: Code
        /// Share of the requests, 0–1.
        package var share: Double

        package enum Code: String, Sendable {
            /// The request was not examined.
            case refusedStream = "REFUSED_STREAM"
            /// The request was accepted.
            case internalError = "INTERNAL_ERROR"
        }

        package init(prefix: String, code: Code, share: Double = 1) {
            self.prefix = prefix
            self.code = code
            self.share = share
        }

        func covers(_ token: ArraySlice<UInt8>) -> Bool { begins(token, with: prefix) }
    }

    /// A wedged connection: it stays open, takes requests and PINGs, and never serves a request.
    package struct Wedge: Sendable, Equatable {
        /// Requests that are answered normally before the connection is wedged.
        package var afterRequests: Int
        /// Answer to all later requests; `nil` for no answer.
        package var answer: Answer?
        /// Share of the connections, 0–1.
        package var share: Double

        package init(afterRequests: Int, answer: Answer? = nil, share: Double = 1) {
            self.afterRequests = afterRequests
            self.answer = answer
            self.share = share
        }
    }

    /// A change of the key that signs provider tokens.
    package struct KeyChange: Sendable, Equatable {
        /// PEM file with the new key's public half.
        package var file: String
        /// Time or number of requests since the start.
        package var after: Stretch

        package init(file: String, after: Stretch) {
            self.file = file
            self.after = after
        }
    }
}

/// - Parameter prefix: hex digits, lower case.
private func begins(_ token: ArraySlice<UInt8>, with prefix: String) -> Bool {
    let digits = Array(prefix.utf8)
    guard digits.count <= 2 * token.count else { return false }
    for (index, digit) in digits.enumerated() {
        let byte = token[token.startIndex + index / 2]
        let nibble = index % 2 == 0 ? byte >> 4 : byte & 15
        if (nibble < 10 ? 48 + nibble : 87 + nibble) != digit { return false }
    }
    return true
}

extension Answer {
    /// Is `true` if the answer says that the token will never work again.
    var isOfDeadToken: Bool {
        switch self {
        case .expiredToken, .unregistered, .badDeviceToken, .deviceTokenNotForTopic: true
        default: false
        }
    }
}

/// Kind of a stream reset.
enum StreamReset {
    /// REFUSED_STREAM: the request was not examined.
    case refused
    /// INTERNAL_ERROR: the client cannot know whether the request was accepted.
    case failed(EntryIndex?)
}

/// Timed trouble of connections: changing stream limits and windows, GOAWAYs, lost connections, slow reading and outages.
extension Simulator {
    static let readingTickMilliseconds = 50

    func startTrouble() {
        if case .milliseconds(let interval) = options.losesConnection { every(interval) { $0.lose() } }
        if case .milliseconds(let interval) = options.goesAway {
            every(interval) { [unowned self] in
                service.countGoAway()
                $0.goAway()
                hasOutput($0)
            }
        }
        troubleTimers.settings = LoopTimer(loop: loop) { [unowned self] in
            changeSettings()
            armSettingsChange()
        }
        armSettingsChange()
        if options.readBytesPerSecond != nil {
            let tick = Self.readingTickMilliseconds
            repeating(tick) { [unowned self] in
                for connection in connections.all.values { connection.mayRead(bytesPerTick) }
            }
        }
        if let outage = options.outageMilliseconds {
            after(outage.lowerBound) { [unowned self] in goDown() }
            after(outage.upperBound) { [unowned self] in comeUp() }
        }
    }

    /// Bytes that a connection may read between two ticks; `nil` for no limit.
    var bytesPerTick: Int? {
        options.readBytesPerSecond.map { max(1, $0 * Self.readingTickMilliseconds / 1000) }
    }

    /// Calls `body` at each interval with one of the connections that carry requests, drawn at random.
    private func every(_ interval: Int, _ body: @escaping (Connection) -> Void) {
        repeating(interval) { [unowned self] in
            let candidates = connections.all.values.filter { $0.hasCarriedRequests && !$0.isLost }.sorted {
                $0.id < $1.id
            }
            guard !candidates.isEmpty else { return }
            body(candidates[Int(draw() % UInt64(candidates.count))])
        }
    }

    private func armSettingsChange() {
        let now = Int(clock.now.sinceStartMilliseconds)
        let changes = [options.streams, options.windows].compactMap { $0.change(after: now) }
        if let next = changes.min() { troubleTimers.settings?.start(after: .milliseconds(next - now)) }
    }

    private func changeSettings() {
        let now = Int(clock.now.sinceStartMilliseconds)
        sessions.settings.streamsMax = UInt32(options.streams.value(at: now))
        sessions.settings.window = Int32(options.windows.value(at: now))
        for connection in connections.all.values { connection.change(sessions.settings) }
    }

    /// Closes the port and loses all connections until `comeUp`.
    package func goDown() {
        stopListening()
        for connection in connections.all.values where !connection.isLost { connection.lose() }
    }

    package func comeUp() {
        do { try listen() } catch { report("\(error)") }
    }
}
