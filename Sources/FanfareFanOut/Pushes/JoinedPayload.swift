package import FanfareModel
import Synchronization

/// The content of one push to a lineup of one member: plain numbers, and references that the batch holds. A transport joins the bytes from
/// the encoded pieces of the lineup's topics where it sends them, so nothing is kept of a push.
package struct JoinedPayload {
    /// `aps.timestamp`, Unix seconds.
    package let stamp: Int64
    /// `aps.stale-date`, Unix seconds.
    package let staleDate: Int64?
    package let relevanceScore: Double?
    package let priority: Priority
    /// Serial of the publication in the spotlight.
    let serial: UInt64
    /// Index of the spotlight among the topics.
    let spotlight: Int32
    private let storedStateSizeMax: Int32
    /// Places of the lineup's topics in the batch's list.
    fileprivate(set) var topics: Range<Int32> = 0..<0
    /// Place of the alert in the batch's list; `nil` if there is none.
    fileprivate(set) var alert: Int32?

    /// Upper bound on the state's size.
    package var stateSizeMax: ByteCount { .bytes(Int(storedStateSizeMax)) }

    init(
        stamp: Int64, staleDate: Int64?, relevanceScore: Double?, priority: Priority, serial: UInt64, spotlight: Int,
        stateSizeMax: ByteCount
    ) {
        self.stamp = stamp
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
        self.priority = priority
        self.serial = serial
        self.spotlight = Int32(spotlight)
        storedStateSizeMax = Int32(stateSizeMax.bytes)
    }
}

/// The words of an alert, with their JSON, which a transport encodes once for all pushes that carry it. Confined to its shard's thread.
package final class AlertWords {
    package let text: AlertText
    /// The alert as a member of `aps`; empty until a transport has encoded it.
    // Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) package var json: [UInt8] = []

    init(_ text: AlertText) { self.text = text }
}

/// The joined payloads of a batch, and the references that they need.
@safe struct JoinedPayloads {
    private static let numbers = Atomic<UInt64>(1)

    private var payloads: [JoinedPayload] = []
    private var topics: [Unmanaged<LineupTopic>] = unsafe []
    /// The topics of `topics`, each of them once.
    private var kept: [LineupTopic] = []
    private var alerts: [AlertWords] = []
    /// Number of this filling of the batch, unique in the process. A topic that has the number is in `kept`.
    private var number = JoinedPayloads.numbers.add(1, ordering: .relaxed).newValue

    /// - Returns: the payload's place.
    mutating func append(_ payload: JoinedPayload, _ shown: LineupJSON.Shown, _ alert: AlertWords?) -> Int {
        var payload = payload
        let start = unsafe Int32(topics.count)
        for index in unsafe shown.topics.indices {
            let topic = unsafe shown.topics[index]
            unsafe topic._withUnsafeGuaranteedRef {
                guard $0.keeper != number else { return }
                $0.keeper = number
                kept.append($0)
            }
        }
        unsafe topics.append(contentsOf: shown.topics)
        payload.topics = unsafe start..<Int32(topics.count)
        if let alert {
            if alerts.last !== alert { alerts.append(alert) }
            payload.alert = Int32(alerts.count - 1)
        }
        payloads.append(payload)
        return payloads.count - 1
    }

    subscript(place: Int) -> JoinedPayload { payloads[place] }

    func alert(of payload: JoinedPayload) -> AlertWords? { payload.alert.map { alerts[Int($0)] } }

    @inline(__always)
    func withShown<Result>(_ payload: JoinedPayload, _ body: (LineupJSON.Shown) -> Result) -> Result {
        unsafe topics.withUnsafeBufferPointer {
            unsafe body(
                LineupJSON.Shown(
                    topics: UnsafeBufferPointer(
                        rebasing: $0[Int(payload.topics.lowerBound)..<Int(payload.topics.upperBound)]),
                    spotlight: Int(payload.spotlight)))
        }
    }

    mutating func removeAll() {
        guard !payloads.isEmpty else { return }
        payloads.removeAll(keepingCapacity: true)
        unsafe topics.removeAll(keepingCapacity: true)
        kept.removeAll(keepingCapacity: true)
        alerts.removeAll(keepingCapacity: true)
        number = JoinedPayloads.numbers.add(1, ordering: .relaxed).newValue
    }
}
