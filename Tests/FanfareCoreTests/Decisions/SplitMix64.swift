/// The same numbers for the same seed everywhere, so that a failing seed can be run again.
struct SplitMix64 {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func number(below bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }
    mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }
    mutating func element<T>(of array: [T]) -> T { array[number(below: array.count)] }

    mutating func shuffle<T>(_ array: inout [T]) {
        for last in stride(from: array.count - 1, to: 0, by: -1) { array.swapAt(last, number(below: last + 1)) }
    }
}
