import FanfareModel
import Testing

@testable import FanfareHTTP2

@Suite struct ShapeCacheTests {
    private static func shape(_ number: Int) -> RequestShape {
        RequestShape(authority: "localhost", fields: [HeaderField("apns-topic", "app.\(number)")])
    }

    /// Returns what the cache has for a shape, as the peer's table reads it.
    private func bytes(_ cache: inout ShapeCache, _ shape: RequestShape) -> [UInt8] {
        let index = cache.prepare(shape)
        return cache.entries[index].pseudoFields + cache.entries[index].fields
    }

    @Test func aShapeIsShortFromItsSecondUseOnAndStaysSo() {
        var cache = ShapeCache(encoder: HeaderEncoder(tableCapacity: 4096))
        let shape = Self.shape(1)
        let uses = (0..<4).map { _ in bytes(&cache, shape) }
        #expect(uses[0].count > uses[1].count && uses[1].count <= 4, "each field is an index by then")
        #expect(uses[1] == uses[2] && uses[2] == uses[3])
        #expect(cache.entries.count == 1)
    }

    @Test func aFieldThatIsNewToTheTableMakesOtherShapesBeEncodedAgain() {
        var cache = ShapeCache(encoder: HeaderEncoder(tableCapacity: 4096))
        let (first, second) = (Self.shape(1), Self.shape(2))
        for _ in 0..<2 { _ = bytes(&cache, first) }
        let before = bytes(&cache, first)
        _ = bytes(&cache, second)
        let after = bytes(&cache, first)
        #expect(before != after, "the second shape's field has moved the first one's index")
    }

    @Test func theOldestShapeGivesWayToTheSeventeenth() {
        var cache = ShapeCache(encoder: HeaderEncoder(tableCapacity: 4096))
        let shapes = (0..<17).map(Self.shape)
        for shape in shapes { _ = bytes(&cache, shape) }
        #expect(cache.entries.count == 16)
        #expect(!cache.entries.contains { $0.shape === shapes[0] } && cache.entries[0].shape === shapes[16])
        let again = bytes(&cache, shapes[1])
        #expect(!again.isEmpty && cache.entries.count == 16)
    }

    @Test func aSizeUpdateIsWrittenOnce() {
        var cache = ShapeCache(encoder: HeaderEncoder(tableCapacity: 4096))
        let shape = Self.shape(1)
        for _ in 0..<2 { _ = bytes(&cache, shape) }
        cache.setTableLimit(0)
        let updated = bytes(&cache, shape)
        #expect(updated.first == 0x20, "the peer's table has size zero")
        let next = bytes(&cache, shape)
        #expect(next.first != 0x20)
    }
}
