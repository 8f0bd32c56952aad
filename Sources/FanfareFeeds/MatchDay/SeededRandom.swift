/// The same numbers for the same seed on every machine and toolchain (splitmix64; the standard library does not promise
/// how its own `random(in:using:)` draws).
struct SeededRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func number(in range: ClosedRange<Int64>) -> Int64 {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int64(next().multipliedFullWidth(by: width).high)
    }

    mutating func number(in range: ClosedRange<Int>) -> Int {
        Int(number(in: Int64(range.lowerBound)...Int64(range.upperBound)))
    }

    mutating func chance(perThousand: Int) -> Bool { number(in: 0...999) < perThousand }

    /// The array must not be empty.
    mutating func element<Element>(of array: [Element]) -> Element { array[number(in: 0...array.count - 1)] }

    mutating func shuffle<Element>(_ array: inout [Element]) {
        for position in array.indices.dropFirst().reversed() {
            array.swapAt(position, number(in: 0...position))
        }
    }
}
