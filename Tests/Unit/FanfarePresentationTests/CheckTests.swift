import FanfareModel
import Testing

@testable import FanfarePresentation

/// Refusals of `--check` (rules P2, P3, P5).
@Suite struct CheckTests {
    private func kinds(_ scene: Scene) -> [Finding.Kind] { scene.findings.map(\.kind) }

    /// Some 61 points wide: more than the smaller phone's side has, less than the larger one's.
    @Test func P5_aLongNameOverflowsOnTheSmallerPhoneOnly() throws {
        let studio = try Studio(Studio.template())
        let state: JSONObject = ["name": "Rovers 10"]
        let small = try studio.scene(state, .compact, on: .small)
        let finding = try #require(small.findings.first)
        #expect(kinds(small) == [.overflow])
        #expect(finding.element == "name")
        #expect(finding.location == "iPhone 393 × 852, compact")
        #expect(finding.text.hasSuffix("points of 52.33"))
        let large = try studio.scene(state, .compact, on: .large)
        #expect(large.findings.isEmpty)
        #expect(small.svg().contains("stroke-dasharray"), "what does not fit is marked")
        #expect(!large.svg().contains("stroke-dasharray"))
    }

    @Test(arguments: Appearance.allCases) func P2_lowContrastIsFound(appearance: Appearance) throws {
        let template = Studio.template("[elements.team]\ntext = \"x\"\ncolor = \"{colour}\"")
            .replacing("rows = [{ leading = [\"name\"] }]", with: "rows = [{ leading = [\"team\"] }]")
        let studio = try Studio(template)
        // Without a colour the text is secondary, which is always read.
        #expect(kinds(try studio.scene(["name": "A"], .lockScreen, appearance)).isEmpty)
        #expect(kinds(try studio.scene(["name": "A", "colour": "#6d6d6d"], .lockScreen, .dark)) == [.contrast])
        #expect(kinds(try studio.scene(["name": "A", "colour": "#9a9a9a"], .lockScreen, .light)) == [.contrast])
    }

    /// A club's mark stands beside its name, so its colour need not be seen everywhere.
    @Test func P2_anIconWithoutContrastIsFoundUnlessItDecorates() throws {
        func found(_ color: String, _ appearance: Appearance) throws -> [Finding] {
            let template = Studio.template("[elements.mark]\nicon = \"disc\"\ncolor = \"\(color)\"")
                .replacing("rows = [{ leading = [\"name\"] }]", with: "rows = [{ leading = [\"mark\", \"name\"] }]")
            let state: JSONObject = ["name": "A", "colour": "#101010"]
            return try Studio(template).scene(state, .lockScreen, appearance).findings
        }
        #expect(try found("#101010", .light).isEmpty)
        let dark = try found("#101010", .dark)
        #expect(dark.map(\.kind) == [.contrast] && dark.first?.element == "mark")
        #expect(dark.first?.text.hasPrefix("the icon disc has a contrast of 1.") == true)
        #expect(try found("{colour}", .dark).isEmpty)
    }

    @Test func M4_aPairWithTheSameLettersIsFound() throws {
        let studio = try Studio(builtIn: "football")
        func found(_ leading: String, _ trailing: String) -> [Finding] {
            studio.content(["compactLeading": .string(leading), "compactTrailing": .string(trailing)]).cutForms
        }
        #expect(
            found("MAN 0", "1 MAN").map(\.text) == [
                "“MAN” stands on both sides; expected words that differ, by the rules' `short`"
            ])
        #expect(found("MCI 0", "1 MUN").isEmpty)
        #expect(found("3", "12").isEmpty)
    }

    /// Three letters of an Arabic name are its article and one more, and no capitals tell that they are an abbreviation.
    @Test func M4_aCutNameFromRightToLeftIsFound() throws {
        let studio = try Studio(builtIn: "football")
        func found(_ leading: String, _ trailing: String) -> [Finding] {
            studio.content([
                "compactLeading": .string(leading), "compactTrailing": .string(trailing), "home": "الهلال",
                "away": "הפועל חיפה",
            ]).cutForms
        }
        #expect(found("الهلال 1", "0 חיפה").isEmpty)
        #expect(found("اله 1", "0 הפו").map(\.element) == ["compactLeading", "compactTrailing"])
        #expect(
            found("اله 1", "0 חיפה").map(\.text) == [
                "“اله” is cut from “الهلال”; expected a whole word, by the rules' `short`"
            ])
        #expect(found("NOR 1", "0 KES").isEmpty)
        let scene = try names("הפועל באר שבע והסביבה הצפונית", "Kestrel", short: "{name:3}")
        #expect(scene.findings.map(\.kind) == [.cut], "as on a surface without room for the name")
    }

    @Test(
        arguments: [
            ("progress = \"share\"", ["share": 148], "share is 148; expected a number from 0 to 1"),
            ("progress = \"share\"", ["share": "half"], "share is half; expected a number from 0 to 1"),
            (
                "timer = \"when\"", ["when": "soon"],
                "when is soon; expected a date within a year, in seconds since 2001"
            ),
            (
                "timer = \"when\"", ["when": 1_781_359_200],
                "when is 1781359200; expected a date within a year, in seconds since 2001"
            ), ("timer = \"when\"", ["when": 803_052_000], nil),
            ("progress = \"share\"", ["share": 0.5], nil), ("progress = \"share\"", ["share": .null], nil),
            ("timer = \"when\"", [:], nil),
        ] as [(String, JSONObject, String?)])
    func aValueThatItsElementCannotShowIsFound(form: String, state: JSONObject, fault: String?) throws {
        let studio = try Studio(Studio.template("[elements.part]\n\(form)"))
        let found = studio.template.mistypedValues(in: studio.content(state))
        #expect(found.map(\.text) == (fault.map { [$0] } ?? []))
        #expect(found.allSatisfy { $0.kind == .field && $0.element == "part" })
    }

    @Test func P3_aDescriptionThatNobodyListensToIsFound() throws {
        let studio = try Studio(Studio.template())
        func found(_ count: Int) throws -> [Finding] {
            let state: JSONObject = ["name": "A", "spoken": .string(String(repeating: "é", count: count))]
            return try studio.scene(state, .lockScreen).findings
        }
        #expect(try found(200).isEmpty)
        #expect(try found(201).map(\.kind) == [.description])
        #expect(try found(201).first?.text.contains("201 characters") == true)
    }

    /// Black is read on a light card and not on a dark one.
    @Test func P2_contrastIsThatOfEachAppearance() throws {
        let template = Studio.template("[elements.team]\ntext = \"x\"\ncolor = \"#000000\"")
            .replacing("rows = [{ leading = [\"name\"] }]", with: "rows = [{ leading = [\"team\"] }]")
        let studio = try Studio(template)
        #expect(kinds(try studio.scene(["name": "A"], .lockScreen, .light)).isEmpty)
        #expect(kinds(try studio.scene(["name": "A"], .lockScreen, .dark)) == [.contrast])
        #expect(kinds(try studio.scene(["name": "A"], .expanded)) == [.contrast])
    }

    @Test func P5_aLogoAloneIsFound() throws {
        let template = Studio.template("[elements.logo]\nicon = \"disc\"", compact: "leading = [\"logo\"]")
        let studio = try Studio(template)
        #expect(kinds(try studio.scene(["name": "A"], .compact)) == [.logoAlone])
        #expect(kinds(try studio.scene(["name": "A"], .minimalAttached)).isEmpty)
    }

    /// A side may keep its mark or its name: a train's line never changes, and a match without goals has the same pair for two hours.
    @Test func P5_anEmptySideIsFound() throws {
        let compact = "leading = [\"name\"]\ntrailing = [\"wait\"]"
        let studio = try Studio(
            Studio.template("[elements.wait]\ntext = \"{wait}\"\nstyle = \"footnote\"", compact: compact))
        #expect(try studio.scene(["name": "A", "wait": "3"], .compact).findings.isEmpty)
        let trailing = try #require(try studio.scene(["name": "A"], .compact).findings.first)
        #expect(trailing.kind == .emptySide && trailing.element == "trailing")
        #expect(trailing.text.hasSuffix("or words in the state's compactTrailing"))
        let leading = try studio.scene(["wait": "3", "spoken": "3"], .compact).findings
        #expect(leading.map(\.element) == ["leading"])
        #expect(
            kinds(try studio.scene(["other": "A"], .compact)) == [.logoAlone, .logoAlone, .description],
            "nothing at all")
        #expect(try studio.scene(["name": "A"], .menuBar).findings.isEmpty, "said once")
        let mark = try Studio(
            Studio.template("[elements.wait]\nicon = \"tram\"", compact: compact))
        #expect(try mark.scene(["name": "A"], .compact).findings.isEmpty)
    }

    /// Before there is a driver, a courier or a pace, the trailing side has nothing of them to show.
    @Test(
        arguments: [
            ("ride", ["status": "matching", "compactLeading": "Search"]),
            ("ride", ["status": "waiting", "compactLeading": "Here"]),
            ("delivery", ["status": "placed", "compactLeading": "Order"]),
            ("workout", ["status": "running", "metres": 0, "compactLeading": "0 m", "startedAt": 803_051_990]),
        ] as [(String, JSONObject)]) func P5_aBuiltInTemplateHasTwoSides(kind: String, state: JSONObject) throws
    {
        for device in Device.phones {
            let scene = try Studio(builtIn: kind).scene(state, .compact, on: device)
            #expect(scene.findings.isEmpty, "\(scene.findings)")
        }
    }

    /// Text that wraps, or is large, has a height as well as a width.
    @Test func elementsTooHighForTheIslandAreFound() throws {
        let template = Studio.template(
            "[elements.huge]\ntext = \"{name}\"\nstyle = \"largeTitle\"",
            compact: "leading = [\"huge\"]\ntrailing = [\"side\"]")
        let scene = try Studio(template).scene(["name": "1"], .compact)
        #expect(kinds(scene) == [.overflow])
        #expect(scene.findings.first?.text.contains("points high") == true)
    }

    @Test func iconsThatDoNotFitAreFound() throws {
        let template = Studio.template(
            "[elements.logo]\nicon = \"disc\"\nstyle = \"largeTitle\"",
            compact: "leading = [\"logo\", \"logo\", \"logo\"]\ntrailing = [\"name\"]")
        let scene = try Studio(template).scene(["name": "A"], .compact)
        #expect(kinds(scene).contains(.overflow))
        #expect(scene.findings.contains { $0.element == "logo" && $0.text.contains("its group needs") })
    }

    @Test func aPresentationThatShowsNothingIsFound() throws {
        let studio = try Studio(Studio.template())
        #expect(kinds(try studio.scene(["other": "A"], .compact)).contains(.logoAlone))
    }

    @Test func P2_anElementOnAnotherSideIsFound() throws {
        let elements = """
            [elements.short]
            text = "{name}"
            about = "name"
            style = "footnote"
            [elements.other]
            text = "{other}"
            """
        let kept = try Studio(
            Studio.template(
                elements, compact: "leading = [\"short\"]\ntrailing = [\"other\"]",
                expanded: ", { trailing = [\"other\"] }"))
        let content = kept.content(["name": "A", "other": "B"])
        #expect(kept.template.movedElements(in: content, device: .small).isEmpty)
        let moved = try Studio(
            Studio.template(
                elements, compact: "leading = [\"other\"]\ntrailing = [\"short\"]",
                expanded: ", { trailing = [\"other\"] }"))
        let findings = moved.template.movedElements(in: content, device: .small)
        #expect(findings.map(\.element) == ["other", "name"])
        #expect(findings.allSatisfy { $0.kind == .moved })
    }

    @Test func P3_aMissingDescriptionIsFound() throws {
        let studio = try Studio(Studio.template().replacing("spoken = \"{name}\"", with: "spoken = \"{nothing}\""))
        #expect(kinds(try studio.scene(["name": "A"], .lockScreen)) == [.description])
        let own: JSONObject = ["name": "A", "spoken": "A, said by the rules"]
        let scene = try studio.scene(own, .lockScreen)
        #expect(scene.findings.isEmpty)
        #expect(scene.spoken == "A, said by the rules")
        let words = try Studio(
            Studio.template().replacing(
                "spoken = \"{name}\"", with: "spoken = [\"number {nothing}\", \"in the queue\"]"))
        #expect(
            kinds(try words.scene(["name": "A"], .lockScreen)) == [.description], "words without a field say nothing")
    }

    /// 4.2 : 1 on the dark card.
    @Test func P2_aTextThatIsAlmostReadIsFound() throws {
        let template = Studio.template("[elements.team]\ntext = \"x\"\ncolor = \"#7d7d7d\"")
            .replacing("rows = [{ leading = [\"name\"] }]", with: "rows = [{ leading = [\"team\"] }]")
        let scene = try Studio(template).scene(["name": "A"], .lockScreen, .dark)
        #expect(kinds(scene) == [.contrast])
        #expect(scene.findings.first?.text.contains("has a contrast of 4.") == true)
    }

    /// A clock that has just begun is narrow, and a card lives for eight hours.
    @Test func P5_aTimerIsCheckedAtItsLongest() throws {
        let elements = "[elements.clock]\ntimer = \"since\"\nstyle = \"title3\""
        let studio = try Studio(Studio.template(elements, compact: "leading = [\"clock\"]\ntrailing = [\"name\"]"))
        let content = studio.content(["name": "A", "since": 803_052_000.0])
        #expect(content.at.activityKitSeconds == 803_052_000)
        let scene = try #require(studio.scene(of: content, .compact))
        #expect(kinds(scene) == [.overflow])
        #expect(scene.findings.first?.element == "clock")
        #expect(scene.findings.first?.text.hasSuffix("points of 52.33, as its timer runs") == true)
        #expect(scene.svg().contains(">0:00</text>"), "the moment's own text is drawn")
        #expect(scene.svg().contains("stroke-dasharray"), "what will not fit is marked")
    }

    /// Digits of the same number have different widths.
    @Test func P5_aTimerHasTheWidestDigits() throws {
        let elements = "[elements.clock]\ntimer = \"until\"\ncounts = \"down\"\nstyle = \"title2\""
        let studio = try Studio(Studio.template(elements, compact: "leading = [\"clock\"]\ntrailing = [\"name\"]"))
        let shown = studio.measure.width(of: "11:11", size: 22, weight: .semibold)
        #expect(shown < 52.33)
        let scene = try studio.scene(["name": "A", "until": .double(803_052_000 + 671)], .compact)
        #expect(kinds(scene) == [.overflow])
    }

    @Test func M4_aNameThatIsCutIsSaid() throws {
        let studio = try Studio(Studio.template())
        var content = studio.content(["compactLeading": "North…", "compactTrailing": "0 KES", "minimal": "1–0"])
        #expect(content.cutForms.map(\.element) == ["compactLeading"])
        #expect(content.cutForms.first?.kind == .cut)
        content.others = [["compactLeading": "A", "compactTrailing": "B", "minimal": "1…"]]
        #expect(content.cutForms.map(\.element) == ["compactLeading", "minimal"])
        content.state["compactLeading"] = "NOR 1"
        content.state["spoken"] = "Northspire one, Kestrel…"
        content.others = nil
        #expect(content.cutForms.map(\.location) == ["spoken form"])
        content.state["spoken"] = "Northspire one"
        #expect(content.cutForms.isEmpty)
    }

    @Test func aCharacterWithoutAGlyphIsFound() throws {
        let studio = try Studio(Studio.template())
        #expect(kinds(try studio.scene(["name": "東京"], .compact)) == [.glyph])
    }

    /// One font is missing, however many surfaces, elements and characters need it.
    @Test func aMissingFontIsOneFinding() throws {
        let studio = try Studio(
            Studio.template("[elements.other]\ntext = \"{other}\"", expanded: ", { leading = [\"other\"] }"))
        let content = studio.content(["name": "東京", "other": "京都"])
        let found = Device.all.flatMap(\.surfaces).compactMap {
            Layout.scene(of: content, by: studio.template, on: $0, studio.measure)
        }.flatMap(\.findings)
        #expect(found.count > 20)
        #expect(found.distinct.map(\.location) == ["fonts"])
        #expect(found.first?.text.hasPrefix("none has “東” (U+6771)") == true)
    }

    /// WCAG 2 wants 3 : 1 between the filled part of a bar and the rest of it.
    @Test func P2_aFaintBarIsFound() throws {
        func kinds(_ accents: String, _ appearance: Appearance) throws -> [Finding.Kind] {
            let template = Studio.template("[elements.bar]\nprogress = \"share\"\ncolor = \"accent\"")
                .replacing("kind = \"test\"", with: "kind = \"test\"\n\(accents)")
                .replacing("[lockScreen]\nrows = [{", with: "[lockScreen]\nrows = [{ trailing = [\"bar\"] }, {")
            return self.kinds(try Studio(template).scene(["name": "A", "share": 0.5], .lockScreen, appearance))
        }
        #expect(try kinds("accent = \"#FF9F0A\"", .light) == [.contrast])
        #expect(try kinds("accent = \"#FF9F0A\"", .dark) == [])
        #expect(try kinds("accent = \"#FF9F0A\"\nlightAccent = \"#8A4B00\"", .light) == [])
        #expect(try kinds("accent = \"#8A4B00\"", .dark) == [.contrast])
    }

    /// Words that never change tell no more than a logo.
    @Test func P5_aWordAloneIsFound() throws {
        let template = Studio.template(
            "[elements.word]\ntext = \"LIVE\"\n[elements.logo]\nicon = \"disc\"",
            compact: "leading = [\"logo\"]\ntrailing = [\"word\"]")
        let scene = try Studio(template).scene(["name": "A"], .compact)
        #expect(kinds(scene) == [.logoAlone])
        #expect(scene.findings.first?.text.contains("never change") == true)
    }

    @Test func aColourThatCannotBeReadIsFound() throws {
        let template = Studio.template("[elements.team]\ntext = \"{name}\"\ncolor = \"{colour}\"")
            .replacing("rows = [{ leading = [\"name\"] }]", with: "rows = [{ leading = [\"team\"] }]")
        let studio = try Studio(template)
        #expect(kinds(try studio.scene(["name": "A", "colour": "reddish"], .lockScreen)) == [.color])
        #expect(kinds(try studio.scene(["name": "A", "colour": 7], .lockScreen)) == [.color])
        #expect(kinds(try studio.scene(["name": "A", "colour": "#ffffff"], .lockScreen)) == [])
        #expect(kinds(try studio.scene(["name": "A"], .lockScreen)) == [], "a state may lack it")
    }

    /// Letters of which people cannot tell whose name they are.
    @Test(arguments: [
        ("{name:2}", "NO", "KE", 2), ("{name:3}", "NOR", "KES", 0), ("{name:12}", "NORTHERNMOST", "KESTREL", 1),
    ]) func M4_anAbbreviationIsAWordOrThreeLetters(short: String, home: String, away: String, found: Int) throws {
        let scene = try names("Northernmoster Wanderers", "Kestrel Bay United Rovers", short: short)
        #expect(scene.items.count == 2)
        #expect(scene.svg().contains(">\(home)<") && scene.svg().contains(">\(away)<"))
        #expect(scene.findings.filter { $0.kind == .cut }.count == found, "\(scene.findings)")
    }

    @Test func M4_twoNamesDoNotLookTheSame() throws {
        let scene = try names("Borussia Westerburg", "Borussia-Westerburg", short: "{name:3}")
        #expect(scene.findings.map(\.kind) == [.cut])
        #expect(scene.findings.first?.text.contains("for “Borussia Westerburg” and for") == true, "\(scene.findings)")
    }

    private func names(_ home: String, _ away: String, short: String) throws -> Scene {
        func element(_ name: String) -> String {
            """
            [elements.\(name)]
            text = "{\(name)}"
            short = "\(short.replacing("name", with: name))"
            style = "title2"

            """
        }
        let template = Studio.template(element("home") + element("away"))
            .replacing(
                "[lockScreen]\nrows = [{ leading = [\"name\"] }]",
                with: "[lockScreen]\nrows = [{ leading = [\"home\"], trailing = [\"away\"] }]")
        return try Studio(template).scene(["name": "A", "home": .string(home), "away": .string(away)], .lockScreen)
    }

    /// Of two names that do not both fit, each has half of the row at least.
    @Test func P5_aLongNameLeavesRoomForTheOther() throws {
        let scene = try names("Northspire", "Kestrel Bay United Rovers of the North", short: "{name:3}")
        #expect(scene.findings.isEmpty)
        #expect(scene.svg().contains(">Northspire<") && scene.svg().contains(">KES<"))
    }

    @Test func aMistypedFieldIsFound() throws {
        let template = try Studio(
            Studio.template(
                "[elements.score]\ntext = \"{homeScor}\"\n[elements.tram]\nicon = \"tram\"\ncolor = \"{colour}\"\n"
                    + "[elements.rest]\ntext = \"{nme}\"\nwhen = { nme = { present = true } }")
        ).template
        let findings = template.mistypedFields(amongst: ["name", "homeScore", "color"])
        #expect(findings.map(\.element) == ["score", "tram"], "a condition says that a field may be missing")
        #expect(findings.first?.text == "no update has the field homeScor; did you mean homeScore?")
        #expect(template.mistypedFields(amongst: ["name", "homeScor", "colour"]).isEmpty)
        #expect(template.mistypedFields(amongst: ["name", "elsewhere"]).isEmpty, "a field may come later")
    }

    /// A picture alone has to show what does not fit.
    @Test func textThatIsTooWideIsNotClipped() throws {
        let studio = try Studio(Studio.template())
        #expect(try studio.scene(["name": "Rovers 10"], .compact).svg().contains("overflow=\"visible\""))
        #expect(!(try studio.scene(["name": "A"], .compact).svg().contains("overflow=")))
    }

    @Test func rowsThatAreTooHighAreSeenWhole() throws {
        let rows = Array(repeating: "{ leading = [\"name\"] }", count: 9).joined(separator: ", ")
        let studio = try Studio(
            Studio.template().replacing(
                "[lockScreen]\nrows = [{ leading = [\"name\"] }]", with: "[lockScreen]\nrows = [\(rows)]"))
        let scene = try studio.scene(["name": "A"], .lockScreen)
        #expect(scene.findings.map(\.kind) == [.overflow])
        #expect(scene.svg().contains("overflow=\"visible\""))
    }

    /// A bar takes the room that the others leave, wherever it stands.
    @Test(arguments: [
        "{ leading = [\"name\"], trailing = [\"bar\"] }", "{ center = [\"bar\"] }",
        "{ leading = [\"name\"], center = [\"bar\"] }",
    ]) func aBarHasRoomOnEachSide(row: String) throws {
        let template = Studio.template("[elements.bar]\nprogress = \"share\"").replacing(
            "[lockScreen]\nrows = [{ leading = [\"name\"] }]", with: "[lockScreen]\nrows = [\(row)]")
        let scene = try Studio(template).scene(["name": "AB", "share": 0.5], .lockScreen)
        #expect(scene.findings.isEmpty)
        #expect(scene.items.first { $0.element == "bar" }.map { $0.frame.width > 200 } == true)
    }

    /// The name of the field is the system's.
    @Test func aFeedCannotMakeACardStale() throws {
        let studio = try Studio(builtIn: "football")
        #expect(!studio.content(["isStale": false]).isStale)
        #expect(!studio.content(["isStale": true]).isStale)
    }

    @Test func contrastIsThatOfTheStandard() {
        #expect(Color.white.contrast(with: .black) == 21)
        let gray = Color(hex: "#767676")!
        #expect(abs(gray.contrast(with: .white) - 4.54) < 0.01)
        #expect(Color(hex: "#12345") == nil)
        #expect(Color(hex: "#+12345") == nil)
        #expect(Color(hex: "#1f5")?.hex == "#11ff55")
    }
}
