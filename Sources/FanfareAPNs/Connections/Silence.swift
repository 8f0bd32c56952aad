import FanfareModel

/// Silence of a connection's peer, after which the peer is asked for a sign of life, and later counts as gone.
struct Silence {
    /// Silence after which the peer may be gone. The three spans are nanoseconds, because each turn adds them to each connection's times.
    private let mostWhileBusy: Int64
    /// Silence after which an idle peer is asked for a sign of life.
    private let mostWhileIdle: Int64
    /// Time for which the answer to a PING is awaited.
    private let pongMax: Int64

    private(set) var lastReceived = MonotonicTime.always
    /// Start of the current period with requests in flight. Silence counts from then on.
    private var busySince = MonotonicTime.always
    /// Time at which a sign of life was last requested; `nil` once any bytes have arrived.
    private var askedAt: MonotonicTime?
    /// `true` once bytes have arrived since the connection opened.
    private(set) var hasBeenBroken = false

    init(busy: Duration, idle: Duration, pong: Duration) {
        mostWhileBusy = busy.nanoseconds
        mostWhileIdle = idle.nanoseconds
        pongMax = pong.nanoseconds
    }

    mutating func opened(at now: MonotonicTime) { lastReceived = now }

    /// Notes received bytes. Any bytes are a sign of life, not only a PING's answer.
    mutating func received(at now: MonotonicTime) {
        lastReceived = now
        hasBeenBroken = true
        askedAt = nil
    }

    /// Notes the first request of a period with requests in flight.
    mutating func becameBusy(at now: MonotonicTime) { busySince = now }

    /// `true` from the request for a sign of life to the first byte of any answer.
    var isAsking: Bool { askedAt != nil }

    /// Notes that the peer is asked for a sign of life; returns `false` if it has been asked already.
    mutating func ask(at now: MonotonicTime) -> Bool {
        guard askedAt == nil else { return false }
        askedAt = now
        return true
    }

    /// Returns `true` if the peer, or a router on the way, may have forgotten the connection. All that is sent would then be lost.
    func isLong(at now: MonotonicTime) -> Bool { isLong(since: lastReceived, at: now) }

    /// Returns `true` if as much time has passed as a busy peer may be silent.
    func isLong(since time: MonotonicTime, at now: MonotonicTime) -> Bool {
        now.nanoseconds(since: time) >= mostWhileBusy
    }

    /// Returns `true` if as much time has passed as an idle peer may be silent.
    func isLongWhileIdle(since time: MonotonicTime, at now: MonotonicTime) -> Bool {
        now.nanoseconds(since: time) >= mostWhileIdle
    }

    /// Returns the time at which the peer is to be asked for a sign of life, or counts as gone if it has been asked.
    func ends(isBusy: Bool) -> MonotonicTime {
        if let askedAt { return askedAt.advanced(byNanoseconds: pongMax) }
        return isBusy
            ? max(lastReceived, busySince).advanced(byNanoseconds: mostWhileBusy)
            : lastReceived.advanced(byNanoseconds: mostWhileIdle)
    }

    /// Describes a request for a sign of life from before the last bytes, which were the sign; `nil` if there is none. For tests.
    func violation() -> String? {
        guard let askedAt, askedAt < lastReceived else { return nil }
        return "asked at \(askedAt), and heard at \(lastReceived)"
    }
}
