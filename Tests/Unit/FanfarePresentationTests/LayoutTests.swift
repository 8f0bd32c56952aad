import FanfareModel
import Foundation
import Testing

@testable import FanfarePresentation

@Suite struct LayoutTests {
    /// Rule P1, and the worked example of a ride.
    @Test func P1_heightFollowsContent() throws {
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

    @Test func P1_aRowWithoutContentTakesNoSpace() throws {
        let rows = String(repeating: ", { leading = [\"name\"] }", count: 4)
        let plain = try Studio(Studio.template(expanded: rows)).scene(["name": "A"], .expanded)
        let studio = try Studio(
            Studio.template("[elements.gate]\ntext = \"{gate}\"", expanded: rows + ", { leading = [\"gate\"] }"))
        #expect(plain.height > 84)
        #expect(try studio.scene(["name": "A"], .expanded).height == plain.height)
        #expect(try studio.scene(["name": "A", "gate": "B 4"], .expanded).height > plain.height)
    }

    @Test(arguments: [Surface.Kind.compact, .minimalAttached, .minimalDetached, .expanded, .standByMinimal])
    func P4_theIslandIsBlack(kind: Surface.Kind) throws {
        let studio = try Studio("background = \"#204060\"\n" + Studio.template())
        #expect(try studio.scene(["name": "A"], kind).background == .black)
        #expect(try studio.scene(["name": "A"], .lockScreen).background == Color(hex: "#204060"))
    }

    /// A low first row leaves the second one beside the camera, where nothing may stand.
    @Test(arguments: Device.phones) func theSecondRowIsBelowTheCamera(device: Device) throws {
        let elements = "[elements.low]\ntext = \"{name}\"\nstyle = \"caption2\"\n[elements.wide]\ntext = \"{wide}\""
        let template = Studio.template(elements, expanded: ", { leading = [\"wide\"] }")
            .replacing("rows = [{ leading = [\"name\"] }, ", with: "rows = [{ leading = [\"low\"] }, ")
        let scene = try Studio(template).scene(
            ["name": "A", "wide": "a text that reaches across the camera"], .expanded, on: device)
        let wide = try #require(scene.items.first { $0.element == "wide" })
        #expect(wide.frame.maxX > (scene.width - device.cameraWidth) / 2)
        #expect(wide.frame.y >= Device.islandHeight)
    }

    /// The ends of the minimal presentation are round.
    @Test func minimalKeepsClearOfItsRoundEnds() throws {
        let studio = try Studio(Studio.template())
        let width = studio.measure.width(of: "Rogers", size: 13)
        #expect((42.7...45).contains(width), "between the room of a line and that of the whole oval")
        #expect(try studio.scene(["name": "Rogers"], .minimalAttached).findings.map(\.kind) == [.overflow])
        #expect(try studio.scene(["name": "Roger"], .minimalAttached).findings.isEmpty)
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
        let emphasised = try studio.scene(state, .lockScreen)
        #expect(emphasised.items.count == plain.items.count + 1)
        let pill = try #require(emphasised.items.first { if case .box = $0.form { true } else { false } })
        #expect(pill.element == "homeScore")
    }

    /// Nothing stands behind the camera, and nothing outside the card.
    @Test(arguments: Device.phones) func noElementIsBehindTheCameraOrOutsideTheCard(device: Device) throws {
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
        let studio = try Studio(Studio.template(elements, compact: "leading = [\"long\"]\ntrailing = [\"side\"]"))
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
        let surface = Surface(kind: .lockScreen, appearance: .dark, device: .small)
        let scene = try #require(
            Layout.scene(of: content, by: outer.template, inner: inner, on: surface, outer.measure))
        let svg = scene.svg()
        #expect(scene.findings.isEmpty)
        #expect(scene.spoken == "Northspire City one, Kestrel Bay nil, and 9 more")
        for text in ["Northspire City", "T1 0", "T7 0", "0 X", "and 2 more"] {
            #expect(svg.contains(text), "\(text)")
        }
    }

    private func lineup(of others: Int, more: Int = 0, isStale: Bool = false, on kind: Surface.Kind) throws -> Scene {
        let (outer, inner) = (try Studio(builtIn: CardTemplate.lineup), try CardTemplate.builtIn("football"))
        var content = outer.content(Self.anyState)
        content.others = (0..<others).map { index in
            let (home, away) = (["NOR 11", "FCI 1", "W 0", "MMM 2"][index % 4], ["1 KES", "10 MMW", "0 I"][index % 3])
            return ["compactLeading": .string(home), "compactTrailing": .string(away), "minimal": "0–0"]
        }
        content.more = more
        content.isStale = isStale
        let surface = Surface(kind: kind, appearance: .dark, device: .small)
        return try #require(Layout.scene(of: content, by: outer.template, inner: inner, on: surface, outer.measure))
    }

    /// Scores stand below scores, whatever the names' widths.
    @Test(arguments: [Surface.Kind.expanded, .lockScreen]) func theColumnsOfALineupLineUp(kind: Surface.Kind) throws {
        let scene = try lineup(of: 8, on: kind)
        #expect(scene.findings.isEmpty)
        func edges(_ name: String, _ edge: (Rect) -> Double) -> [Double] {
            scene.items.filter { $0.element == name }.map { (edge($0.frame) * 100).rounded() / 100 }
        }
        let columns = [
            Set(edges("otherLeading") { $0.maxX }), Set(edges("otherDot") { $0.midX }),
            Set(edges("otherTrailing") { $0.x }),
        ]
        #expect(columns.map(\.count) == [3, 3, 3])
        #expect(edges("otherDot") { $0.midX }.count == 8)
        #expect(Set(edges("otherLeading") { $0.x }).count > 3, "the names are not equally wide")
    }

    /// Rows that the height of the card has no room for are counted, fresh and stale, and never out of sight.
    @Test(arguments: [Surface.Kind.expanded, .lockScreen, .standBy], [false, true])
    func aLongLineupCountsWhatDoesNotFit(kind: Surface.Kind, isStale: Bool) throws {
        for (others, more) in [(11, 0), (15, 0), (15, 4), (40, 0)] {
            let scene = try lineup(of: others, more: more, isStale: isStale, on: kind)
            #expect(scene.findings.isEmpty, "\(others): \(scene.findings)")
            let shown = scene.items.count { $0.element == "otherDot" }
            let rest = others + more - shown
            #expect(shown >= 5)
            #expect(scene.svg().contains(">and \(rest) more<") == (rest > 0), "\(others)")
            #expect(scene.items.contains { $0.element == "more" } == (rest > 0))
        }
        #expect(try lineup(of: 7, on: kind).items.count { $0.element == "otherDot" } == 7)
    }

    /// On the smallest surfaces a lineup shows its spotlight as the topic's own card does.
    @Test func aLineupShowsItsSpotlightInTheSmartStack() throws {
        let (outer, inner) = (try Studio(builtIn: CardTemplate.lineup), try Studio(builtIn: "football"))
        var content = inner.content(Self.anyState)
        let surface = Surface(kind: .smartStack, appearance: .dark, device: Device.watches[0])
        let alone = try #require(Layout.scene(of: content, by: inner.template, on: surface, outer.measure))
        content.others = [["compactLeading": "C 1", "compactTrailing": "0 D"]]
        let scene = try #require(
            Layout.scene(of: content, by: outer.template, inner: inner.template, on: surface, outer.measure))
        #expect(scene.findings.isEmpty)
        #expect(scene.items.map(\.element) == alone.items.map(\.element))
        #expect(scene.items.contains { $0.element == "period" })
    }

    /// The feed's latest event is the period's own beginning.
    @Test(arguments: [("HT", "Half-time"), ("2H", "Second half"), ("FT", "Full time"), ("PEN", "Penalty shoot-out")])
    func aCardSaysNothingTwice(period: String, event: String) throws {
        let (studio, lineup) = (try Studio(builtIn: "football"), try CardTemplate.builtIn("lineup"))
        var state = Self.anyState
        (state["period"], state["lastEvent"]) = (.string(period), .string(event))
        func times(_ scene: Scene) -> Int { scene.svg().components(separatedBy: ">\(event)<").count - 1 }
        for kind in [Surface.Kind.expanded, .lockScreen] {
            #expect(times(try studio.scene(state, kind)) == 1, "\(kind)")
        }
        var content = studio.content(state)
        content.others = []
        let surface = Surface(kind: .lockScreen, appearance: .dark, device: .small)
        let scene = try #require(
            Layout.scene(of: content, by: lineup, inner: studio.template, on: surface, studio.measure))
        #expect(times(scene) == 1, "a spotlight has no period, so it shows the event")
        state["lastEvent"] = "Goal: A. Vale"
        #expect(try studio.scene(state, .lockScreen).svg().contains(">Goal: A. Vale<"))
    }

    /// Text behind a Hebrew or Arabic name stands on its left; the frame is the same.
    @Test func aTextFromRightToLeftBeginsAtItsRight() throws {
        let studio = try Studio(Studio.template())
        for name in ["חיפה 1", "חיפ…"] {
            let scene = try studio.scene(["name": .string(name)], .lockScreen)
            let item = try #require(scene.items.first)
            #expect(scene.findings.isEmpty)
            #expect(item.frame.x == Device.margin)
            #expect(scene.svg().contains("<text x=\"\(item.frame.maxX.points)\" direction=\"rtl\" "))
        }
        #expect(!(try studio.scene(["name": "Haifa 1"], .lockScreen).svg().contains("direction=")))
    }

    /// In an app that is written from right to left, leading is on the right.
    @Test(arguments: [Surface.Kind.compact, .expanded, .lockScreen, .smartStack])
    func aCardFromRightToLeftIsMirrored(kind: Surface.Kind) throws {
        let football = try #require(CardTemplate.builtInFile("football"))
        let (plain, other) = (try Studio(football), try Studio("direction = \"rightToLeft\"\n" + football))
        let device = kind == .smartStack ? Device.watches[0] : .small
        let (scene, mirrored) = (
            try plain.scene(Self.anyState, kind, on: device), try other.scene(Self.anyState, kind, on: device)
        )
        #expect(mirrored.findings.isEmpty)
        #expect(scene.items.count == mirrored.items.count && scene.items.count > 1)
        for (a, b) in zip(scene.items, mirrored.items) {
            #expect(abs(a.frame.x + b.frame.maxX - scene.width) < 0.01)
            #expect(a.frame.y == b.frame.y && a.frame.width == b.frame.width)
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

    /// A state that every built-in template shows something of.
    private static let anyState: JSONObject = [
        "compactLeading": "A 1", "compactTrailing": "0 B", "minimal": "1–0", "status": "running", "home": "Alderholm",
        "away": "Port Serrin", "homeScore": 1, "awayScore": 0, "homeSets": 1, "awaySets": 0, "homePoints": 12,
        "awayPoints": 9, "set": 2, "period": "2H", "lastEvent": "Goal", "position": 4, "progress": 0.5, "line": "F",
        "destination": "Harbour", "nextStop": "Mill", "metres": 1200, "pace": "5:30",
    ]

    /// Old data look old: fainter on each surface, and in words where there is room and for a screen reader.
    @Test(arguments: CardTemplate.builtInKinds.filter { $0 != "lineup" })
    func L6_aStaleCardLooksStaleOnEachSurface(kind: String) throws {
        let studio = try Studio(builtIn: kind)
        var fresh = Self.anyState
        fresh["highlight"] = "period"
        var stale = studio.content(fresh)
        stale.isStale = true
        for (surface, device) in [
            (Surface.Kind.compact, Device.small), (.minimalAttached, .small), (.expanded, .small),
            (.lockScreen, .small),
            (.smartStack, Device.watches[0]), (.carPlay, Device.cars[0]),
        ] {
            let was = try studio.scene(fresh, surface, on: device)
            let now = try #require(studio.scene(of: stale, surface, on: device))
            func bright(_ scene: Scene) -> Int {
                scene.items.count { item in
                    if case .text = item.form { item.color == .white } else { false }
                }
            }
            #expect(bright(was) > 0, "\(surface)")
            #expect(bright(now) == 0, "\(surface)")
            let hasRoom = surface != .compact && surface != .minimalAttached
            #expect(!now.items.contains { $0.element?.hasPrefix("clock") ?? false }, "a clock looks live")
            func emphasised(_ scene: Scene) -> Bool {
                scene.items.contains { item in
                    if case .text = item.form { item.behind == studio.template.accent } else { false }
                }
            }
            #expect(!emphasised(now), "a highlight looks new")
            #expect(emphasised(was) || kind != "football" || !hasRoom)
            #expect(now.items.contains { $0.element == "stale" } == hasRoom, "\(surface)")
            #expect(!was.items.contains { $0.element == "stale" })
            #expect(now.findings.isEmpty, "\(surface): \(now.findings)")
            #expect(now.spoken == was.spoken + ", not up to date")
        }
    }

    @Test func L6_aStaleLineupSaysItOnce() throws {
        let (lineup, inner) = (try Studio(builtIn: "lineup"), try CardTemplate.builtIn("football"))
        var content = CardContent(
            topic: TopicID("t/1"), kind: .football, state: Self.anyState, others: [["compactLeading": "C 1"]],
            at: FeedTime(seconds: 1_781_359_200))
        content.isStale = true
        let surface = Surface(kind: .lockScreen, appearance: .light, device: .small)
        let scene = try #require(
            Layout.scene(of: content, by: lineup.template, inner: inner, on: surface, lineup.measure))
        #expect(scene.items.count { $0.element == "stale" } == 1)
        #expect(scene.spoken.components(separatedBy: "not up to date").count == 2)
        #expect(scene.spoken.hasSuffix("and 1 more, not up to date"))
    }

    private func lines(_ text: String, lines: Int) throws -> [String] {
        let template = Studio.template("[elements.note]\ntext = \"{note}\"\nlines = \(lines)").replacing(
            "[lockScreen]\nrows = [{ leading = [\"name\"] }]", with: "[lockScreen]\nrows = [{ leading = [\"note\"] }]")
        let scene = try Studio(template).scene(["name": "A", "note": .string(text)], .lockScreen)
        #expect(!scene.findings.contains { $0.kind == .glyph && $0.text.contains("U+A") })
        return scene.items.compactMap { if case .text(let text, _, _) = $0.form { text } else { nil } }
    }

    /// Chinese and Japanese have no spaces, and a line begins with no closing sign.
    @Test func aTextWithoutSpacesIsWrapped() throws {
        let text = "配達員が荷物を持ってそちらに向かっています。到着までしばらくお待ちください"
        let wrapped = try lines(text, lines: 4)
        #expect(wrapped.count > 1 && wrapped.joined() == text)
        // Each of these is a line's width, so the sign would begin the next one.
        for count in 15...25 {
            let text = String(repeating: "東", count: count) + "。" + String(repeating: "京", count: 5)
            let wrapped = try lines(text, lines: 4)
            #expect(wrapped.joined() == text)
            #expect(!wrapped.contains { $0.hasPrefix("。") }, "\(wrapped)")
        }
        let opened = try lines(String(repeating: "東「京」、", count: 12), lines: 4)
        #expect(opened.count > 1)
        #expect(!opened.contains { "」、".contains($0.first ?? "、") || $0.last == "「" }, "\(opened)")
        #expect(try lines(String(repeating: "A", count: 60), lines: 4).count == 1, "a word has no such places")
    }

    @Test func aLineBreakIsKeptWhereThereAreLines() throws {
        #expect(try lines("On its way\nto you", lines: 2) == ["On its way", "to you"])
        #expect(try lines("On its way\r\n\r\nto you", lines: 2) == ["On its way", "to you"])
        #expect(try lines("On its way\nto you", lines: 1) == ["On its way to you"])
        #expect(try lines("a\nb\nc", lines: 2) == ["a b c"], "there are not enough lines for its own breaks")
    }
}
