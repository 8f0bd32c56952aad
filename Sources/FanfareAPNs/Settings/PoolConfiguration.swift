package import FanfareLoop

/// Settings of a `ConnectionPool`, which its owner chooses.
package struct PoolConfiguration: Sendable {
    package var endpoint: Endpoint
    /// Bundle id of the app, from which the push topic is made.
    package var bundleID: String
    /// Number of connections; `nil` for as many as bring everything that is due at once to the last activity within
    /// `reach`, at most the pool's share of `quota`.
    package var connections: Int?
    /// Time from a change to the last activity of the largest audience.
    package var reach: Duration = .seconds(2)
    /// Connections of the app on this host, common to its pools. They share the peer, so connections that it ends in all of them return together.
    package var quota = ConnectionQuota()
    /// Time after which a request's outcome is uncertain and its activity is free again.
    package var requestTimeout: Duration = .seconds(10)
    /// Time limit of a name look-up, and also of connecting, from an address to the first SETTINGS.
    package var connectTimeout: Duration = .seconds(10)
    /// Silence after which a PING checks the peer, while requests are in flight and before more are sent.
    package var pingAfter: Duration = .seconds(4)
    /// Silence after which a PING checks the peer of an idle connection, so that a dead connection is found before it is
    /// needed. Some routers forget a quiet connection after four minutes; Apple asks for no more PINGs than useful (spec §10).
    package var idlePingAfter: Duration = .seconds(45)
    /// Time limit of a PING's answer. Together with `pingAfter` it is less than `requestTimeout`, so that a dead
    /// connection is recognised as such.
    package var pingTimeout: Duration = .seconds(5)
    /// Time after which a connection whose peer allows no streams is replaced.
    package var noStreamsTimeout: Duration = .seconds(30)
    /// Maximum time for which `close` waits for answers.
    package var drainTimeout: Duration = .seconds(10)
    /// Maximum time for which a connection that has sent GOAWAY waits for the peer to close it. All its requests have ended by then.
    package var lingerTimeout: Duration = .seconds(1)
    /// Resolver of the endpoint's name.
    package var resolver = Resolver.system

    package init(endpoint: Endpoint, bundleID: String, connections: Int? = nil) {
        self.endpoint = endpoint
        self.bundleID = bundleID
        self.connections = connections
    }

    /// `true` if the number of connections follows the need.
    var choosesSize: Bool { connections == nil }
}
