import FanfareLoop
import FanfareModel

/// The time and the place to which a connection opened.
struct ConnectionOpening {
    let at: MonotonicTime
    /// Address of the peer.
    let address: SocketAddress

    /// Time after which the end of a connection is unrelated to earlier ends, whatever it carried: the longest wait for a connection.
    static let lastingTime = Duration.seconds(60)

    func hasLasted(at now: MonotonicTime) -> Bool { now - at >= ConnectionOpening.lastingTime }
}
