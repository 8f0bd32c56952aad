/// Name of an activity in four bytes, the same in every process. Of a million activities some two hundred share theirs with another one;
/// for two that do, one's claim counts for both.
package struct ActivityMark: Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    init(of bytes: some Sequence<UInt8>) { rawValue = UInt32(truncatingIfNeeded: bytes.fnv1a.mixed >> 32) }
}

/// Name of a start in four bytes, the same in every process: of the activity and the number of its first request.
package struct StartMark: Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter number: `StartRequest.number` of the first request.
    package init(_ activity: ActivityMark, number: UInt32) {
        rawValue = UInt32(truncatingIfNeeded: (UInt64(activity.rawValue) << 32 | UInt64(number)).mixed >> 32)
    }
}
