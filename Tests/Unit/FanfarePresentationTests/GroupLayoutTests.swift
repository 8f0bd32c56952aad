import FanfareModel
import Testing

@testable import FanfarePresentation

@Suite struct GroupLayoutTests {
    @Test(arguments: [(GroupLayout.Alignment.leading, 10.0), (.center, 40.0), (.trailing, 70.0)])
    func aGroupStandsWhereItsAlignmentSays(alignment: GroupLayout.Alignment, x: Double) {
        let frame = Rect(x: 10, y: 0, width: 100, height: 20)
        #expect(alignment.start(of: 40, in: frame) == x)
    }

    @Test func aGroupIsAsHighAsItsTallestElement() throws {
        let studio = try Studio(Studio.template())
        let content = studio.content(["name": "A"])
        let layout = GroupLayout(
            content: content, measure: studio.measure,
            palette: Palette(appearance: .dark, background: .black, accent: .black, lightAccent: nil))
        let name = try #require(studio.template.measured("name", content, .shown, studio.measure))
        let side = try #require(studio.template.measured("side", content, .shown, studio.measure))
        #expect(name.height > side.height)
        #expect(layout.tallest(of: [name, side], in: 200) == name.height)
        #expect(layout.tallest(of: [side], in: 200) == side.height)
        #expect(layout.tallest(of: [], in: 200) == 0)
    }

    @Test func anElementThatItsTemplateLacksIsNotMeasured() throws {
        let studio = try Studio(Studio.template())
        let isMeasured = studio.template.measured("nobody", studio.content([:]), .shown, studio.measure) != nil
        #expect(!isMeasured)
    }
}
