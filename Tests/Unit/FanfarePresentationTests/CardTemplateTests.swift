import FanfareModel
import FanfareTOML
import Foundation
import Testing

@testable import FanfarePresentation

@Suite struct CardTemplateTests {
    @Test(arguments: CardTemplate.builtInKinds) func aBuiltInTemplateIsGood(kind: String) throws {
        let template = try CardTemplate.builtIn(kind)
        #expect(template.kind == kind)
        // The printed template is the template in use.
        let printed = try #require(CardTemplate.builtInFile(kind))
        #expect(throws: Never.self) { try CardTemplate(toml: Array(printed.utf8), file: "copy.toml") }
    }

    @Test func eachFileOfTheFolderIsCarried() throws {
        let folder = #filePath.components(separatedBy: "/Tests/")[0] + "/Sources/FanfarePresentation/Templates"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).map { $0.replacing(".toml", with: "") }
        #expect(files.sorted() == CardTemplate.builtInKinds.sorted())
    }

    @Test func aKindWithoutATemplateHasTheGenericOne() throws {
        #expect(try CardTemplate.builtIn("parcel").kind == "generic")
    }

    /// Each mistake with its line and column, all in one pass.
    @Test func mistakesAreNamedWithTheirLocation() throws {
        let toml = """
            kind = "test"
            spoken = "{name"
            accent = "reddish"

            [elements.name]
            text = "{name}"
            stile = "footnote"

            [elements.both]
            text = "a"
            icon = "disc"

            [elements.event]
            text = "b"
            unlike = "nane"

            [compact]
            leading = ["nome"]
            [minimal]
            center = ["name"]
            [expanded]
            rows = [{ leading = ["name"], middle = ["name"] }]
            [lockScreen]
            rows = []
            [banner]
            """
        let error = #expect(throws: TOMLError.self) { try CardTemplate(toml: Array(toml.utf8), file: "my.toml") }
        let lines = try #require(error?.lines)
        let expected = [
            "my.toml:2:10: spoken: a { without its }", "my.toml:3:10: accent is \"reddish\"; expected a colour",
            "my.toml:7:1: stile: unknown key; did you mean style?",
            "my.toml:9:11: both: expected exactly one of text, timer",
            "my.toml:15:10: nane: there is no such element; did you mean name?", "my.toml:18:1",
            "my.toml:22:31: middle: unknown key",
            "my.toml:25:2: banner: unknown key",
        ]
        for (line, start) in zip(lines, expected) { #expect(line.hasPrefix(start), "\(line)") }
        #expect(lines.count == expected.count, "\(lines)")
        #expect(lines[5].contains("nome: there is no such element; did you mean name?"))
    }

    @Test func missingPartsAreNamed() {
        let error = #expect(throws: TOMLError.self) {
            try CardTemplate(toml: Array("kind = \"a\"".utf8), file: "a.toml")
        }
        #expect(
            error?.lines.first?.contains("spoken, elements, compact, minimal, expanded, lockScreen missing") == true)
    }

    @Test func aFileThatIsMissingIsNamed() {
        let error = #expect(throws: TOMLError.self) { try CardTemplate(file: "/nowhere/a.toml") }
        #expect(error?.isUnreadable == true)
    }

    @Test func P3_theSpokenFormLeavesOutWhatIsMissing() throws {
        let studio = try Studio(builtIn: "football")
        let state: JSONObject = [
            "home": "Northspire", "homeScore": 1, "away": "Kestrel Bay", "awayScore": 0, "period": "1H",
        ]
        #expect(studio.template.spoken(studio.content(state)) == "Northspire one, Kestrel Bay nil, first half")
        #expect(studio.template.spoken(studio.content(JSONObject())) == "")
        let queue = try Studio(builtIn: "queue")
        #expect(queue.template.spoken(queue.content(["position": 3])) == "number 3 in the queue")
        #expect(queue.template.spoken(queue.content(["progress": 0.5])) == "", "words alone say nothing")
    }

    @Test func P3_theSpokenFormTellsTheShootOutAndTheMinutes() throws {
        let football = try Studio(builtIn: "football")
        var state: JSONObject = [
            "home": "Northspire", "homeScore": 1, "away": "Kestrel Bay", "awayScore": 1, "period": "PEN",
            "homeShootout": 4, "awayShootout": 3,
        ]
        #expect(
            football.template.spoken(football.content(state))
                == "Northspire one, Kestrel Bay one, 4 to 3 on penalties, penalty shoot-out")
        state["homeShootout"] = nil
        (state["period"], state["periodStartedAt"]) = ("2H", .double(803_052_000 - 61))
        let playing = football.content(state)
        #expect(football.template.spoken(playing) == "Northspire one, Kestrel Bay one, second half, 46 minutes")
        #expect(
            football.template.spoken(football.content(state, isOver: true))
                == "Northspire one, Kestrel Bay one, second half", "an ended card has no clock")
        let ride = try Studio(builtIn: "ride")
        let arriving: JSONObject = ["status": "arriving", "arrivesAt": .double(803_052_000 + 59)]
        #expect(ride.template.spoken(ride.content(arriving)) == "driver is almost there, in 1 minute")
    }

    /// A date is a number of nine digits.
    @Test func P3_aTimerThatIsNotShownIsNotSaid() throws {
        let toml = Studio.template("[elements.eta]\ntimer = \"eta\"\nwhen = { isStale = { present = false } }")
            .replacing("spoken = \"{name}\"", with: "spoken = [\"{name}\", \"in {eta}\"]")
        let studio = try Studio(toml)
        let state: JSONObject = ["name": "A", "eta": .double(803_052_000 - 61)]
        var content = studio.content(state)
        #expect(studio.template.spoken(content) == "A, in 1 minute")
        content.isStale = true
        #expect(studio.template.spoken(content) == "A, not up to date")
        #expect(studio.template.spoken(studio.content(state, isOver: true)) == "A")
    }

    /// A surface is laid out with all of its elements, so a template with thousands takes minutes.
    @Test func tooManyElementsAreOneFault() {
        let names = (0..<300).map { "e\($0)" }
        let toml = Studio.template(names.map { "[elements.\($0)]\ntext = \"{name}\"\n" }.joined())
            .replacing("rows = [{ leading = [\"name\"] }]", with: "rows = [{ leading = [\"e0\", \"e299\"] }]")
        let error = #expect(throws: TOMLError.self) { try CardTemplate(toml: Array(toml.utf8), file: "a.toml") }
        #expect(error?.lines.count == 1)
        #expect(
            error?.lines.first?.contains("elements: 302 of them; expected 256 at most") == true, "\(error?.lines ?? [])"
        )
    }

    @Test(arguments: ["{}", "{{}}", "{a}{b}"]) func aColourWithoutAFieldIsRefused(color: String) {
        let toml = Studio.template("[elements.team]\ntext = \"{name}\"\ncolor = \"\(color)\"")
        let error = #expect(throws: TOMLError.self) { try CardTemplate(toml: Array(toml.utf8), file: "a.toml") }
        #expect(error?.lines.first?.contains("color is \"\(color)\"; expected") == true, "\(error?.lines ?? [])")
    }

    /// A number of other topics is no description of a lineup.
    @Test func P3_aLineupSaysWhatItsSpotlightSays() throws {
        let (lineup, inner) = (try CardTemplate.builtIn("lineup"), try CardTemplate.builtIn("football"))
        let studio = try Studio(builtIn: "football")
        var content = studio.content(["home": "Northspire", "homeScore": 1])
        content.others = [JSONObject(), JSONObject()]
        #expect(lineup.spoken(content, inner: inner) == "Northspire one, and 2 more")
        content.state = ["minimal": "1–0"]
        #expect(lineup.spoken(content, inner: inner) == "")
    }

    @Test func P3_aValueKeepsItsCommas() throws {
        let studio = try Studio(builtIn: "generic")
        let state: JSONObject = [
            "compactLeading": "A", "status": "late,  but coming", "lastEvent": "LATE,  but coming",
        ]
        #expect(studio.template.spoken(studio.content(state)) == "A, late,  but coming", "no part is said twice")
    }

    @Test(arguments: [
        (0, false, CardTimer.Unit.clock, "0:00"), (61, false, .clock, "1:01"), (5405, false, .clock, "90:05"),
        (-61, true, .clock, "1:01"), (-3725, true, .clock, "1:02:05"), (-61, true, .minutes, "2 min"),
        (30, true, .minutes, "0 min"),
    ]) func aTimersTextCountsUpOrDown(passed: Int64, countsDown: Bool, unit: CardTimer.Unit, text: String) {
        let now = FeedTime(seconds: 1_781_359_200)
        let timer = CardTimer(field: "at", countsDown: countsDown, plus: .zero, unit: unit)
        let date = (now + .seconds(-passed)).activityKitSeconds
        #expect(timer.text(in: ["at": .double(date)], at: now) == text)
        #expect(timer.text(in: ["at": "soon"], at: now) == nil)
        #expect(timer.text(in: ["at": 1e300], at: now) == nil)
    }
}
