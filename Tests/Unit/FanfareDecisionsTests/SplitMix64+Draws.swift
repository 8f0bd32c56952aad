import FanfareModel

extension SplitMix64 {
    mutating func number(below bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }
    mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }
    mutating func element<T>(of array: [T]) -> T { array[number(below: array.count)] }

    mutating func shuffle<T>(_ array: inout [T]) {
        for last in stride(from: array.count - 1, to: 0, by: -1) { array.swapAt(last, number(below: last + 1)) }
    }
}
