import FanfareLoop
import FanfareModel

/// The time and the place to which a connection opened.
struct ConnectionOpening {
    let at: MonotonicTime
    /// Address of the peer.
    let address: SocketAddress
}
