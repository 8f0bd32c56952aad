import FanfareModel

/// One direction of a connection over a distance: bytes enter it at one end and come out at the other after a while.
///
/// It behaves as a TCP connection over such a distance does to the programs at its ends. As many bytes as TCP's congestion window
/// has room for depart at once; their acknowledgement comes a round trip later and makes the window larger by as much (RFC 5681 §3.1, "slow
/// start"), and idleness makes it small again. A loss is a stall: what was lost, and all behind it, comes a round trip later.
///
/// Times are monotonic nanoseconds and come in from outside.
struct Way {
    struct Options: Sendable, Equatable {
        /// Nanoseconds that everything takes, and up to how many more.
        var delay: Int64 = 0
        var jitter: Int64 = 0
        /// `nil`: as many as come.
        var bytesPerSecond: Int?
        /// Share of segments that are lost.
        var lossShare = 0.0
        var slowStart = SlowStart.always

        var roundTrip: Int64 { 2 * delay }
    }

    /// What an Ethernet frame carries.
    static let segmentBytes = 1460
    /// RFC 6928, and Linux.
    static let initialWindow = 10 * segmentBytes
    /// As far as Linux lets a socket's buffer grow by itself (`tcp_wmem`); no more is between the ends at any time.
    static let bytesMax = 4 << 20
    /// Idleness after which Linux halves the window is a round trip and this (`tcp_rto_min`), and again each time as long.
    static let idleMargin: Int64 = 200_000_000

    private let options: Options
    private var random: SplitMix64
    private var window: Int
    /// Bytes that have departed and are not acknowledged, with the times at which they will be.
    private var unacknowledged: [(bytes: Int, at: Int64)] = []
    private var inFlight = 0
    private var lastDeparture = Int64.min
    /// When the last byte that departed has left the near end, by the bandwidth.
    private var isFreeAt = Int64.min
    private var waiting: [ArraySlice<UInt8>] = []
    private var travelling: [(bytes: ArraySlice<UInt8>, due: Int64)] = []
    /// Bytes that are in it.
    private(set) var count = 0

    init(_ options: Options, seed: UInt64) {
        self.options = options
        random = SplitMix64(seed: seed)
        window = options.slowStart == .never ? Way.bytesMax : Way.initialWindow
    }

    /// The near end is read no further; what it has read may still enter.
    var isFull: Bool { count >= Way.bytesMax }

    mutating func enter(_ bytes: [UInt8], at now: Int64) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        waiting.append(bytes[...])
        depart(at: now)
    }

    /// Hands out what has arrived, in the order in which it entered, while `take` wants more.
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
        // TCP hands out nothing before what was sent before it.
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
        // RFC 5681 §4.1, as Linux does it (`tcp_slow_start_after_idle`).
        let pause = options.roundTrip + Way.idleMargin
        while now - lastDeparture >= pause, window > Way.initialWindow {
            window = max(window / 2, Way.initialWindow)
            lastDeparture += pause
        }
    }
}

/// When a connection has a small congestion window.
package enum SlowStart: String, Sendable {
    /// At the beginning and after idleness: Linux unless it is told otherwise.
    case always = "on"
    /// At the beginning: Linux with `net.ipv4.tcp_slow_start_after_idle=0`.
    case first
    case never = "off"
}
