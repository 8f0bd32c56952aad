package import FanfareLoop

extension ConnectionPool {
    package struct Configuration: Sendable {
        package var endpoint: Endpoint
        /// The app's; the push topic is made of it.
        package var bundleID: String
        /// `nil`: as many as bring what is owed at once to the last activity within `reach`, and `connectionsMax` at most.
        package var connections: Int?
        /// From a change to the last activity of the largest audience.
        package var reach: Duration = .seconds(2)
        /// Of this pool: a shard's part of what the app may have.
        package var connectionsMax = 64
        /// Pools of the app on this host, one for each shard, which share the peer: what is told to all of them comes back together.
        package var pools = 1
        /// After this a request's outcome is unknown and its activity free again.
        package var requestTimeout: Duration = .seconds(10)
        /// For a look-up of the name, and again for the way from one address to the first SETTINGS.
        package var connectTimeout: Duration = .seconds(10)
        /// With nothing heard for so long, a PING asks whether anybody is there: while requests are in flight, and before any
        /// more are sent.
        package var pingAfter: Duration = .seconds(4)
        /// The same without requests, so that a connection is known to be dead before it is needed. Some routers forget a
        /// quiet connection after four minutes; Apple wants no more than is of use (spec §10).
        package var idlePingAfter: Duration = .seconds(45)
        /// For its answer. Together less than a request's timeout, so that a dead connection is found as one.
        package var pingTimeout: Duration = .seconds(5)
        /// A connection whose peer allows no streams for so long is replaced.
        package var noStreamsTimeout: Duration = .seconds(30)
        /// How long `close` waits for answers.
        package var drainTimeout: Duration = .seconds(10)
        /// Looks the endpoint's name up.
        package var resolver = Resolver.system

        package init(endpoint: Endpoint, bundleID: String, connections: Int? = nil) {
            self.endpoint = endpoint
            self.bundleID = bundleID
            self.connections = connections
        }

        var sizeLimits: PoolSize.Limits {
            // Of several pools one each is several, and as many pools as the peer takes connections are all served.
            connections.map { .exactly($0) }
                ?? PoolSize.Limits(reach: reach, least: pools > 1 ? 1 : 2, most: connectionsMax)
        }
    }
}
