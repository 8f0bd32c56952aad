/// Position of an activity in its shard's store. A slot is reused after its activity is gone; the generation tells its tenants apart.
@usableFromInline package struct ActivitySlot: Hashable, Sendable, BitwiseCopyable {
    @usableFromInline package let rawValue: UInt32
    @usableFromInline package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}
