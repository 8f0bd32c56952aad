public import FanfareModel

/// The content of pushes: one content state, stamped, with or without an alert. It is made once and shared by all deliveries of the
/// same variant, so expensive work on it is done once per update and not once per phone.
///
/// A lineup with one member has a payload for one push only. A batch therefore overwrites a payload that has no other reference,
/// and reuses the memory of its bytes. A payload that is still referenced stays unchanged, and so do copies of its bytes.
///
/// Confined to its shard's thread.
@usableFromInline package final class Payload {
    @usableFromInline package enum Event: Sendable { case start, update, end }

    /// The additional part of a start: the type and attributes of the new activity. Every start requests an update token, which the app reports.
    @usableFromInline package struct Start: Sendable, Hashable {
        /// Name of the app's attributes struct, as it is spelt there.
        package var attributesType: String
        /// The attributes, a JSON object.
        package var attributes: [UInt8]
        /// Identifier by which starts that wait for a phone collapse into one card. At most 64 bytes.
        package var collapseID: String?

        package init(attributesType: String, attributes: [UInt8], collapseID: String?) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.collapseID = collapseID
        }
    }

    /// All properties but the bytes.
    @usableFromInline struct Head {
        @usableFromInline let event: Event
        @usableFromInline let logLabel: String
        @usableFromInline let stamp: Int64
        @usableFromInline let staleDate: Int64?
        @usableFromInline let dismissalDate: Int64?
        @usableFromInline let alert: AlertText?
        @usableFromInline let priority: Priority
        @usableFromInline let relevanceScore: Double?
        @usableFromInline let start: Start?
        @usableFromInline var serial: UInt64 = 0
    }

    // Unchecked for the reason given in `Membership`. Other modules would check nevertheless, so they access these properties by inlined code.
    @usableFromInline @safe @exclusivity(unchecked) private(set) var head: Head
    @usableFromInline @safe @exclusivity(unchecked) var stateBytes: [UInt8]

    @inlinable package var event: Event { head.event }
    /// The topic, or a lineup's spotlight topic; only for messages to people.
    @inlinable package var logLabel: String { head.logLabel }
    /// The content state, canonical JSON. It is empty on an end that leaves the card as it is; the key is then omitted.
    @inlinable package var state: [UInt8] { stateBytes }
    /// `aps.timestamp`, Unix seconds.
    @inlinable package var stamp: Int64 { head.stamp }
    /// `aps.stale-date`, Unix seconds.
    @inlinable package var staleDate: Int64? { head.staleDate }
    /// `aps.dismissal-date`, Unix seconds; ends only.
    @inlinable package var dismissalDate: Int64? { head.dismissalDate }
    @inlinable package var alert: AlertText? { head.alert }
    @inlinable package var priority: Priority { head.priority }
    /// Rank among this app's activities on a phone: the highest has the Dynamic Island.
    @inlinable package var relevanceScore: Double? { head.relevanceScore }
    /// The additional part of a start; `nil` for other events.
    @inlinable package var start: Start? { head.start }
    /// Serial of the publication that made the version, or of the one in a lineup's spotlight; 0 if there is none. For measurements.
    @inlinable package var serial: UInt64 { head.serial }
    /// The request body, encoded by the transport on first use.
    package var encodedBody: [UInt8] = []
    package var isEncoded = false

    package convenience init(
        event: Event, logLabel: String, state: [UInt8], stamp: Int64, staleDate: Int64?, dismissalDate: Int64?,
        alert: AlertText?, priority: Priority, relevanceScore: Double? = nil, start: Start? = nil, serial: UInt64 = 0
    ) {
        self.init(
            Head(
                event: event, logLabel: logLabel, stamp: stamp, staleDate: staleDate, dismissalDate: dismissalDate,
                alert: alert, priority: priority, relevanceScore: relevanceScore, start: start, serial: serial),
            state: state)
    }

    init(_ head: Head, state: [UInt8] = []) {
        self.head = head
        stateBytes = state
    }

    /// Replaces everything but the state, which is written separately.
    func rewrite(_ head: Head) {
        self.head = head
        isEncoded = false
    }
}
