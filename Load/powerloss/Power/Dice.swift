/// Numbers from a seed, the same on every machine.
package struct Dice: RandomNumberGenerator {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Dice.mixed(state)
    }

    static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Text of so many bytes that no other number has.
    static func text(_ number: UInt64, bytes: Int) -> String {
        let unit = String(mixed(number), radix: 16) + "-"
        return String(String(repeating: unit, count: bytes / unit.utf8.count + 1).prefix(bytes))
    }
}
