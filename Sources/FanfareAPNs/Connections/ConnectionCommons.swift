import FanfareHTTP2

/// Common state of a pool's connections: the settings, the memory that their requests are written in, and the limit that one connection's
/// end sets to the others. Confined to the pool's thread.
final class ConnectionCommons {
    let configuration: PoolConfiguration
    // Unchecked for the reason given in `Connection`.
    /// Output memory for the connection that writes; holds that connection's own memory meanwhile.
    @safe @exclusivity(unchecked) var requestMemory = OutputBuffer(capacity: 4096)
    @safe @exclusivity(unchecked) var lifespan = Lifespan()

    init(_ configuration: PoolConfiguration) { self.configuration = configuration }
}
