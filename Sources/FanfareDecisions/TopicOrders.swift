import FanfareModel

/// Scopes whose orders pause or mute one topic.
struct TopicOrders: Sendable {
    private var pausedBy: OrderScope = []
    private var mutedBy: OrderScope = []

    var isPaused: Bool { !pausedBy.isEmpty }
    var isMuted: Bool { !mutedBy.isEmpty }

    /// Applies an order that holds the topic or lifts a hold.
    ///
    /// - Returns: `true` if the order changed anything.
    mutating func apply(_ operation: FeedEvent.Operation, for scope: OrderScope) -> Bool {
        switch operation {
        case .mute: mutedBy.insert(scope).inserted
        case .unmute: mutedBy.remove(scope) != nil
        case .pause: pausedBy.insert(scope).inserted
        case .resume: pausedBy.remove(scope) != nil
        case .republish, .reset: false
        }
    }

    /// Replaces the scopes of standing orders; keeps the orders for the topic itself.
    mutating func replaceStanding(_ scopes: (muted: OrderScope, paused: OrderScope)) {
        mutedBy = mutedBy.intersection(.topic).union(scopes.muted)
        pausedBy = pausedBy.intersection(.topic).union(scopes.paused)
    }
}

// MARK: - Serial forms

extension TopicOrders {
    func write(to writer: inout SerialWriter) {
        writer.write(byte: pausedBy.rawValue)
        writer.write(byte: mutedBy.rawValue)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        pausedBy = try OrderScope(reading: &reader)
        mutedBy = try OrderScope(reading: &reader)
    }
}
