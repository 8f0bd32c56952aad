import FanfareDecisions
import FanfareModel
import Testing

@Suite struct QuantiserTests {
    @Test(
        arguments: [(0, 0), (29, 0), (30, 60), (31, 60), (89, 60), (90, 120), (-29, 0), (-31, -60)] as [(Int64, Int64)])
    func theFirstQuantisedValueIsTheNearestStep(value: Int64, shown: Int64) {
        #expect(Quantiser.minute.quantise(value, shown: nil) == shown)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max / 3, .max - 1, .max]) func anyStepOfAQuantiserIsTaken(step: Int64) {
        for quantiser in [Quantiser(step: step, hysteresis: step), .percent(step)] {
            for value in [Int64.min, -1, 0, 1, .max] {
                _ = quantiser.quantise(value, shown: quantiser.quantise(value, shown: nil))
            }
            #expect(quantiser.step >= 1 && quantiser.hysteresis >= 1)
        }
    }

    @Test func aQuantisedValueMovesOnlyBeyondItsHysteresis() {
        #expect(Quantiser.minute.quantise(104, shown: 60) == 60)
        #expect(Quantiser.minute.quantise(105, shown: 60) == 120)
        #expect(Quantiser.minute.quantise(16, shown: 60) == 60)
        #expect(Quantiser.minute.quantise(15, shown: 60) == 0)
        #expect(Quantiser.minute.quantise(500, shown: 60) == 480)
    }

    @Test func aQuantisedValueIsNeverWrongByMoreThanItsHysteresis() {
        var random = SplitMix64(seed: 7)
        var shown: Int64?
        var value: Int64 = 1000
        for _ in 0..<5000 {
            value += Int64(random.number(below: 81)) - 40
            shown = Quantiser.minute.quantise(value, shown: shown)
            let off = abs(value - (shown ?? 0))
            #expect(off < 45)
        }
    }

    @Test func extremeValuesDoNotOverflowAQuantiser() {
        for value in [Int64.min, Int64.min + 1, Int64.max - 1, Int64.max] {
            for shown in [nil, Int64.min, 0, Int64.max] {
                let result = Quantiser.minute.quantise(value, shown: shown)
                #expect(result == value || result % 60 == 0 || result == shown)
            }
        }
    }
}
