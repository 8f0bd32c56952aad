import FanfareModel

/// Draws that are equal on every machine and toolchain. The standard library does not specify how its own `random(in:using:)` draws.
extension SplitMix64 {
    mutating func number(in range: ClosedRange<Int64>) -> Int64 {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int64(next().multipliedFullWidth(by: width).high)
    }

    mutating func number(in range: ClosedRange<Int>) -> Int {
        Int(number(in: Int64(range.lowerBound)...Int64(range.upperBound)))
    }

    mutating func chance(perThousand: Int) -> Bool { number(in: 0...999) < perThousand }

    /// Returns a random element of an array, which must not be empty.
    mutating func element<Element>(of array: [Element]) -> Element { array[number(in: 0...array.count - 1)] }

    mutating func shuffle<Element>(_ array: inout [Element]) {
        for position in array.indices.dropFirst().reversed() {
            array.swapAt(position, number(in: 0...position))
        }
    }
}
