public import FanfareDecisions
public import FanfareFanOut
public import FanfareModel

/// Settings of an engine; fixed once it runs. Programs call them `Engine.Options`.
public struct EngineOptions: Sendable {
    /// Destination of the pushes.
    public var transport: TransportChoice
    /// Shards per app, 1 to 256.
    public var shards = 1
    /// Pins each shard's thread to one processor, for machines with nothing else to do.
    public var pinsShards = false
    /// Events and commands on their way to the core, rounded up to a power of two. Values below 2 or above 2^20 are clamped.
    public var mailboxCapacity = 1 << 14
    /// Rules by topic kind: which changes are visible, which are essential and which deserve an alert.
    public var rules = Rules.builtIn
    /// Limits on how much of a phone's attention one activity may claim.
    public var limits = ActivityLimits()
    /// Activities that are on phones already. The engine loads them before `launch` returns, or after the activities of a store;
    /// `Engine.Observer.onReport` receives the number of activities left out, and the reasons.
    public var subscribers: (any SubscriberSource)?
    /// Place in which the engine keeps feed events, orders and people; `nil`: all of them are lost with the process. An engine with a store reads its
    /// events before `launch` returns, and continues where the last engine stopped. The engine serves while it loads its people: only calls that
    /// change cards, `settle` and questions about cards wait for the end of the loading.
    public var store: StoreChoice?
    /// Clock of the engine; only tests need another one than the system's.
    public var clock = ClockSource.system

    /// Creates options with one shard, the built-in rules and no subscribers.
    public init(transport: TransportChoice, store: StoreChoice? = nil) {
        self.transport = transport
        self.store = store
    }
}
