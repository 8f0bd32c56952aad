import FanfareModel

/// One direction of a connection over a distance: bytes enter at one end and leave at the other after a delay.
///
/// To the programs at its ends it behaves like TCP over that distance. Bytes depart at once while TCP's congestion window has room; their
/// acknowledgement comes a round trip later and enlarges the window by as many bytes (RFC 5681 §3.1, "slow start"), and idleness shrinks it
/// again. A loss is a stall: the lost bytes, and all bytes behind them, come a round trip later.
///
/// Times are monotonic nanoseconds and are passed in.
struct Way {
    struct Options: Sendable, Equatable {
        /// Delay of all bytes in nanoseconds; `jitter` is the most that is added to it.
        var delay: Int64 = 0
        var jitter: Int64 = 0
        /// Bandwidth; `nil` for no limit.
        var bytesPerSecond: Int?
        /// Share of segments that are lost, 0–1.
        var lossShare = 0.0
        var slowStart = SlowStart.always

        var roundTrip: Int64 { 2 * delay }
    }

    /// Payload of an Ethernet frame.
    static let segmentBytes = 1460
    /// Initial congestion window of RFC 6928 and of Linux.
    static let initialWindow = 10 * segmentBytes
    /// Most bytes between the two ends: the size to which Linux lets a socket's buffer grow by itself (`tcp_wmem`).
    static let bytesMax = 4 << 20
    /// Linux halves the window after an idle time of a round trip plus this margin (`tcp_rto_min`), and again after each further such time.
    static let idleMargin: Int64 = 200_000_000

    private let options: Options
    private var random: SplitMix64
    private var window: Int
    /// Bytes that have departed and are not acknowledged, with the time of their acknowledgement.
    private var unacknowledged: [(bytes: Int, at: Int64)] = []
    private var inFlight = 0
    private var lastDeparture = Int64.min
    /// Time at which the last departed byte has left the near end, at the given bandwidth.
    private var isFreeAt = Int64.min
    private var waiting: [ArraySlice<UInt8>] = []
    private var travelling: [(bytes: ArraySlice<UInt8>, due: Int64)] = []
    /// Bytes that have entered and not arrived.
    private(set) var count = 0

    init(_ options: Options, seed: UInt64) {
        self.options = options
        random = SplitMix64(seed: seed)
        window = options.slowStart == .never ? Way.bytesMax : Way.initialWindow
    }

    /// Is `true` when the near end must not be read further; bytes it has already read may still enter.
    var isFull: Bool { count >= Way.bytesMax }

    mutating func enter(_ bytes: [UInt8], at now: Int64) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        waiting.append(bytes[...])
        depart(at: now)
    }

    /// Delivers arrived bytes in the order in which they entered, until `take` returns `false`.
    mutating func arrive(at now: Int64, _ take: (ArraySlice<UInt8>) -> Bool) {
        depart(at: now)
        var taken = 0
        while taken < travelling.count, travelling[taken].due <= now {
            let bytes = travelling[taken].bytes
            taken += 1
            count -= bytes.count
            guard take(bytes) else { break }
        }
        travelling.removeFirst(taken)
    }

    private mutating func depart(at now: Int64) {
        acknowledge(at: now)
        var departed = 0
        while departed < waiting.count, inFlight < window {
            let piece = waiting[departed].prefix(window - inFlight)
            waiting[departed] = waiting[departed].dropFirst(piece.count)
            if waiting[departed].isEmpty { departed += 1 }
            travel(piece, at: now)
        }
        waiting.removeFirst(departed)
    }

    private mutating func travel(_ bytes: ArraySlice<UInt8>, at now: Int64) {
        var leaves = max(now, isFreeAt)
        if let rate = options.bytesPerSecond { leaves += Int64(bytes.count) * 1_000_000_000 / Int64(rate) }
        isFreeAt = leaves
        var due = leaves + options.delay
        if options.jitter > 0 { due += Int64.random(in: 0...options.jitter, using: &random) }
        if isLost(bytes.count) { due += options.roundTrip }
        // TCP delivers no bytes before the bytes that were sent earlier.
        due = max(due, travelling.last?.due ?? due)
        travelling.append((bytes, due))
        unacknowledged.append((bytes.count, due + options.delay))
        inFlight += bytes.count
        lastDeparture = now
    }

    private mutating func isLost(_ bytes: Int) -> Bool {
        guard options.lossShare > 0 else { return false }
        var isLost = false
        for _ in 0..<(bytes + Way.segmentBytes - 1) / Way.segmentBytes
        where Double.random(in: 0..<1, using: &random) < options.lossShare {
            isLost = true
        }
        return isLost
    }

    private mutating func acknowledge(at now: Int64) {
        var acknowledged = 0
        for (bytes, at) in unacknowledged {
            guard at <= now else { break }
            acknowledged += 1
            inFlight -= bytes
            window = min(window + bytes, Way.bytesMax)
        }
        unacknowledged.removeFirst(acknowledged)
        guard options.slowStart == .always, unacknowledged.isEmpty, lastDeparture > .min else { return }
        // Shrinks the window after idleness (RFC 5681 §4.1), as Linux does (`tcp_slow_start_after_idle`).
        let pause = options.roundTrip + Way.idleMargin
        while now - lastDeparture >= pause, window > Way.initialWindow {
            window = max(window / 2, Way.initialWindow)
            lastDeparture += pause
        }
    }
}

/// Times at which a connection has a small congestion window.
package enum SlowStart: String, Sendable {
    /// At the beginning and after idleness: Linux by default.
    case always = "on"
    /// At the beginning only: Linux with `net.ipv4.tcp_slow_start_after_idle=0`.
    case first
    case never = "off"
}
