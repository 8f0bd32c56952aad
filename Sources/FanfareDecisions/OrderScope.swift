import FanfareModel

/// Scopes of operators' orders. An order of each scope holds a topic until an order of the same scope lifts it.
struct OrderScope: OptionSet, Sendable {
    let rawValue: UInt8
    static let topic = OrderScope(rawValue: 1)
    static let kind = OrderScope(rawValue: 2)
    static let all = OrderScope(rawValue: 4)
}

extension OrderScope {
    init(reading reader: inout SerialReader) throws(SerialError) {
        self.init(rawValue: try reader.byte())
        guard isSubset(of: [.topic, .kind, .all]) else { throw .malformed("scope") }
    }
}
