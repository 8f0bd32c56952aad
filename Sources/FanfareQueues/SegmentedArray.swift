/// An array for millions of elements of any kind, which grows without moving them: they are in segments of 64 KB.
///
/// An append moves at most the elements of the first segment, which grows as an array does; every further segment has all of its room from the
/// beginning. Only the list of segments, eight bytes for each, is copied as it grows. A read costs a shift, a mask and a look into that list.
/// Values without references that each visit reads are in a `GrowingColumn` instead, where all of them stand side by side.
@usableFromInline package struct SegmentedArray<Element> {
    /// All of them are full but the last one, or the last two, of which the last is empty then.
    @usableFromInline var segments: [[Element]] = []
    @usableFromInline var used = 0

    @inlinable package init() {}

    /// Logarithm of a segment's number of elements. The compiler knows it for each kind of elements.
    @inlinable package static var segmentBits: Int {
        @inline(__always) get {
            let capacity = Swift.max(1, (1 << 16) / MemoryLayout<Element>.stride)
            return Int.bitWidth - 1 - capacity.leadingZeroBitCount
        }
    }

    /// Number of elements of a full segment.
    @inlinable package static var segmentCapacity: Int {
        @inline(__always) get { 1 << segmentBits }
    }

    @inlinable package var count: Int { used }
    @inlinable package var isEmpty: Bool { used == 0 }

    // There is one `yield` for all elements, because the compiler calls an accessor that has several instead of inlining it.
    @inlinable package subscript(place: Int) -> Element {
        @inline(__always) get {
            segments[place >> SegmentedArray.segmentBits][place & (SegmentedArray.segmentCapacity - 1)]
        }
        @inline(__always) _modify {
            yield &segments[place >> SegmentedArray.segmentBits][place & (SegmentedArray.segmentCapacity - 1)]
        }
    }

    /// Returns the elements from a place on that stand side by side, at most `limit`: those of one segment. O(1).
    @inlinable package func neighbours(from place: Int, limit: Int) -> ArraySlice<Element> {
        guard place < used else { return [] }
        let segment = segments[place >> SegmentedArray.segmentBits]
        let start = place & (SegmentedArray.segmentCapacity - 1)
        return segment[start..<start + Swift.min(limit, segment.count - start)]
    }

    @inlinable package mutating func append(_ element: Element) {
        let segment = used >> SegmentedArray.segmentBits
        if segment == segments.count {
            var added: [Element] = []
            if segment > 0 { added.reserveCapacity(SegmentedArray.segmentCapacity) }
            segments.append(added)
        }
        segments[segment].append(element)
        used += 1
    }

    @inlinable package mutating func popLast() -> Element? {
        guard used > 0 else { return nil }
        used -= 1
        let segment = used >> SegmentedArray.segmentBits
        // An empty segment goes with the next element, so that a count that goes up and down at its border does not take new memory each time.
        if segments.count > segment + 1 { segments.removeLast() }
        return segments[segment].removeLast()
    }
}

extension SegmentedArray: RandomAccessCollection {
    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { used }
}

extension SegmentedArray: Sendable where Element: Sendable {}
