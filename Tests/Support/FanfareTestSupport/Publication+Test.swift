package import FanfareModel

extension Publication {
    /// Returns a publication about which a test says what matters to it: all the rest is that of a silent update of a football match, which shows
    /// its serial.
    ///
    /// - Parameters:
    ///   - version: the serial unless the test says otherwise.
    ///   - encoded: the state, if the test has it as bytes.
    package static func test(
        _ serial: UInt64 = 1, of topic: TopicID = TopicID("match"), numbered number: TopicNumber = .none,
        kind: TopicKind = .football, version: UInt32? = nil, event: Event = .update, state: JSONObject? = nil,
        encoded: EncodedState? = nil, priority: Priority = .immediate, alert: Alert? = nil, relevance: Int? = nil,
        prominence: Prominence = Prominence(),
        short: ShortForms = ShortForms(compactLeading: "", compactTrailing: "", minimal: ""),
        stateSizeMax: ByteCount = EncodedState.sizeMax, staleAfter: Duration? = nil, dismissal: DismissalTime? = nil,
        freesID: Bool = false, expiry: Expiry = Expiry(), scheduledAt: FeedTime? = nil, isRepublished: Bool = false
    ) -> Publication {
        Publication(
            serial: serial, topicID: topic, topic: number, topicKind: kind, version: version ?? UInt32(serial),
            event: event, state: encoded ?? EncodedState(state ?? ["version": .int(Int64(serial))]),
            priority: priority, alert: alert, relevance: relevance, prominence: prominence, short: short,
            stateSizeMax: stateSizeMax, staleAfter: staleAfter, dismissal: dismissal, freesID: freesID,
            expiry: expiry, scheduledAt: scheduledAt, isRepublished: isRepublished)
    }
}
