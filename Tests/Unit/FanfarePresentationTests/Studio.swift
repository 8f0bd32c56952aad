import FanfareModel
import FanfareTOML
import Testing

@testable import FanfarePresentation

/// A template and a font, to draw contents in tests. Inter is a package of `scripts/setup`, so a missing font is a fault.
struct Studio {
    let template: CardTemplate
    var measure: TextMeasure

    init(_ toml: String) throws {
        template = try CardTemplate(toml: Array(toml.utf8), file: "test.toml")
        measure = try TextMeasure()
    }

    init(builtIn kind: String) throws {
        template = try CardTemplate.builtIn(kind)
        measure = try TextMeasure()
    }

    func scene(
        _ state: JSONObject, _ kind: Surface.Kind, _ appearance: Appearance = .dark, on device: Device = .small
    )
        throws -> Scene
    {
        try #require(scene(of: content(state), kind, appearance, on: device))
    }

    func scene(
        of content: CardContent, _ kind: Surface.Kind, _ appearance: Appearance = .dark, on device: Device = .small
    ) -> Scene? {
        let surface = Surface(kind: kind, appearance: appearance, device: device)
        return Layout.scene(of: content, by: template, on: surface, measure)
    }

    func content(_ state: JSONObject, isOver: Bool = false) -> CardContent {
        CardContent(
            topic: TopicID("t/1"), kind: TopicKind(template.kind), state: state,
            at: FeedTime(seconds: 1_781_359_200), isOver: isOver)
    }

    /// A template with one text on each surface, beside a mark in compact, and what a test adds to it.
    static func template(
        _ elements: String = "", compact: String = "leading = [\"name\"]\ntrailing = [\"side\"]", expanded: String = ""
    ) -> String {
        """
        kind = "test"
        spoken = "{name}"

        [elements.name]
        text = "{name}"
        style = "footnote"

        [elements.side]
        icon = "disc"
        size = 8

        \(elements)

        [compact]
        \(compact)
        [minimal]
        center = ["name"]
        [expanded]
        rows = [{ leading = ["name"] }\(expanded)]
        [lockScreen]
        rows = [{ leading = ["name"] }]
        """
    }
}

extension Device {
    static let small = phones[0]
    static let large = phones[1]
}
