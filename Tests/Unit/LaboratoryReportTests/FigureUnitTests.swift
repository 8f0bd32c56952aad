import Testing

@testable import LaboratoryReport

@Suite("Units and directions of figures")
struct FigureUnitTests {
    @Test(arguments: [
        ("restart.first", 0.7229, "722.9 ms"), ("run.whole", 61.5, "61.5 s"),
        ("pushes.interrupted", 147_228, "147,228"),
        ("goal.accepted.share", 0.5, "50 %"), ("goal.accepted.owed", 2_000_000, "2,000,000"),
        ("goal.last.p99", 0.25, "250 ms"), ("goal.last.count", 3, "3"), ("cpu.per.push.p10", 8.1e-7, "810 ns"),
        ("memory.peak", 379e6, "379 MB"), ("growth.memory", 0.01, "1 %"), ("engine.full", 0.02, "2 %"),
        ("pushes.per.second.max", 799_839, "799,839"), ("lateness.max", 0.05, "50 ms"),
    ])
    func aFigureIsShownInItsOwnUnit(_ figure: String, _ value: Double, _ text: String) {
        #expect(FigureUnit(figure: figure).text(value) == text)
    }

    @Test(arguments: [
        ("restart.first", Direction.lessIsBetter), ("run.whole", .lessIsBetter), ("goal.last.p99", .lessIsBetter),
        ("pushes.missing", .lessIsBetter), ("pushes.per.second.max", .moreIsBetter),
        ("goal.accepted.share", .moreIsBetter), ("goal.accepted.owed", .neither), ("pushes.dead", .neither),
        ("cpu.per.push.p10", .lessIsBetter), ("engine.full", .lessIsBetter),
    ])
    func aDifferenceIsGoodOrBadByTheFigure(_ figure: String, _ direction: Direction) {
        #expect(Direction(figure: figure) == direction)
    }
}
