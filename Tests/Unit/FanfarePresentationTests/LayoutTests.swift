import FanfareModel
import Testing

@testable import FanfarePresentation

@Suite struct LayoutTests {
    /// Rule P1, and the worked example of a ride.
    @Test func heightFollowsContent() throws {
        let studio = try Studio(builtIn: "ride")
        let searching = try studio.scene(
            ["status": "matching", "compactLeading": "Search", "minimal": "Search"], .lockScreen)
        let found = try studio.scene(
            ["status": "onTrip", "driver": "Ada", "plate": "B-FF 1", "compactLeading": "Trip", "minimal": "Trip"],
            .lockScreen)
        #expect(searching.height == 84)
        #expect(found.height > searching.height)
        #expect(found.height <= 160)
    }

    @Test func aCardThatIsTooHighIsFound() throws {
        let rows = (0..<10).map { _ in ", { leading = [\"name\"] }" }.joined()
        let studio = try Studio(Studio.template(expanded: rows))
        let scene = try studio.scene(["name": "A"], .expanded)
        #expect(scene.height == 160)
        #expect(scene.findings.map(\.kind) == [.overflow])
    }

    @Test func theCausingElementIsEmphasised() throws {
        let studio = try Studio(builtIn: "football")
        var state: JSONObject = ["home": "A", "homeScore": 1, "away": "B", "awayScore": 0, "period": "1H"]
        let plain = try studio.scene(state, .lockScreen)
        state["highlight"] = "homeScore"
        let lit = try studio.scene(state, .lockScreen)
        #expect(lit.items.count == plain.items.count + 1)
        let pill = try #require(lit.items.first { if case .box = $0.form { true } else { false } })
        #expect(pill.element == "homeScore")
    }

    /// Nothing stands behind the camera, and nothing outside the card.
    @Test(arguments: Device.phones) func nothingIsHidden(device: Device) throws {
        let studio = try Studio(builtIn: "football")
        let state: JSONObject = [
            "home": "Borussia Mönchengladbach", "homeScore": 2, "away": "Wolverhampton Wanderers", "awayScore": 10,
            "period": "1H", "lastEvent": "Goal: B. Schweinsteiger (Borussia Mönchengladbach)", "highlight": "awayScore",
        ]
        let scene = try studio.scene(state, .expanded, on: device)
        let camera = Rect(
            x: (scene.width - device.cameraWidth) / 2, y: 0, width: device.cameraWidth, height: Device.islandHeight)
        #expect(scene.findings.isEmpty)
        for item in scene.items {
            let frame = item.frame
            #expect(frame.x >= 0 && frame.maxX <= scene.width && frame.y >= 0 && frame.y + frame.height <= scene.height)
            let isBehind = frame.x < camera.maxX && frame.maxX > camera.x && frame.y < camera.height
            #expect(!isBehind, "\(item.element ?? "")")
        }
    }

    @Test func aTextThatDoesNotFitTakesItsShortForm() throws {
        let elements =
            "[elements.long]\ntext = \"{name} and everybody else who plays\"\nshort = \"{name:3}\"\nstyle = \"footnote\""
        let studio = try Studio(Studio.template(elements, compact: "leading = [\"long\"]"))
        let scene = try studio.scene(["name": "Northspire"], .compact)
        #expect(scene.findings.isEmpty)
        #expect(scene.svg().contains(">NOR</text>"))
    }

    @Test func aLineupShowsItsSpotlightAndTheOthers() throws {
        let outer = try Studio(builtIn: CardTemplate.lineup)
        let inner = try CardTemplate.builtIn("football")
        let others: [JSONObject] = (1...7).map {
            ["compactLeading": .string("T\($0) 0"), "compactTrailing": "0 X", "minimal": "0–0"]
        }
        var content = outer.content(["home": "Northspire City", "homeScore": 1, "away": "Kestrel Bay", "awayScore": 0])
        content.others = others
        content.more = 2
        let place = Place(kind: .lockScreen, appearance: .dark, device: .small)
        let scene = try #require(Layout.scene(of: content, by: outer.template, inner: inner, on: place, outer.measure))
        let svg = scene.svg()
        #expect(scene.findings.isEmpty)
        for text in ["Northspire City", "T1 0 · 0 X", "T7 0 · 0 X", "and 2 more"] {
            #expect(svg.contains(text), "\(text)")
        }
    }

    /// A state can hold any text; none breaks the picture.
    @Test func markupInAStateIsText() throws {
        let studio = try Studio(Studio.template())
        let svg = try studio.scene(["name": "<b a=\"1\">&\u{1}"], .lockScreen).svg()
        #expect(svg.contains("&lt;b a=&quot;1&quot;&gt;&amp;\u{FFFD}"))
        #expect(svg.contains("<title>"))
        #expect(svg.contains("aria-label="))
        #expect(svg.contains("data-width="))
        #expect(svg.contains("Estimates: corner radius"))
    }
}
