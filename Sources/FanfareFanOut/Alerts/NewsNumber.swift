/// A counter of news that wraps around. Two numbers compare correctly while they are less than 2³¹ apart, which suffices: a lineup lasts
/// for eight hours.
struct NewsNumber: Comparable, BitwiseCopyable {
    private(set) var rawValue: UInt32 = 0

    static func < (a: NewsNumber, b: NewsNumber) -> Bool { Int32(bitPattern: a.rawValue &- b.rawValue) < 0 }

    mutating func advance() { rawValue &+= 1 }
}
