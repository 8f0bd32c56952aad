/// Options of the rounds of a crash test.
package struct RoundsOptions: Sendable {
    package var rounds = 30
    package var seed: UInt64 = 1
    /// Acknowledgements after which a round's program may be killed.
    package var acknowledgements = 1000
    /// Time after which no further round begins.
    package var seconds = Int.max / 1_000_000_000
    package var fault: Fault?
    package var folder = ""

    package init() {}
}
