import FanfareModel

/// Place of an element in a table of its shard, in which a key names the element. The place is reused after the element is removed.
struct TableIndex<Key>: Hashable, BitwiseCopyable, CustomStringConvertible {
    private let rawValue: UInt32

    init(_ place: Int) { rawValue = UInt32(place) }
    private init(rawValue: UInt32) { self.rawValue = rawValue }

    var place: Int { Int(rawValue) }
    var description: String { "\(rawValue)" }

    /// Index of no element.
    static var none: TableIndex { TableIndex(rawValue: .max) }
}

typealias AudienceIndex = TableIndex<AudienceKey>
typealias TopicIndex = TableIndex<TopicID>
