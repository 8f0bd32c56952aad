import FanfareModel
import FanfarePresentation
import Foundation
import Testing

/// The page of a recording. `Tests/System/BrowserTests` uses it in a browser.
@Suite struct StoryPageTests {
    private let start = FeedTime(seconds: 1_781_359_200)

    private func svg(_ surface: String, _ text: String) -> String {
        "<svg role=\"img\" aria-label=\"\(text.escapedForMarkup)\" width=\"371\" height=\"84\">\n"
            + "<rect width=\"371\" height=\"84\"/>\n<text data-place=\"\(surface)\">\(text.escapedForMarkup)</text>\n</svg>"
    }

    private func frame(_ index: Int, _ text: String, surfaces: [String] = ["compact", "Lock Screen"]) -> StoryFrame {
        StoryFrame(
            at: start + .seconds(index * 60), cause: "goal",
            pictures: surfaces.map { .init(surface: $0, svg: svg($0, text)) }, spoken: "\(text) spoken")
    }

    private struct Pictures: Decodable {
        var places: [String]
        var lines: [String]
        var pictures: [[Int]]
        var frames: [[Int]]

        /// - Parameter html: a page.
        init(of html: String) throws {
            let after = try #require(html.range(of: "type=\"application/json\">")).upperBound
            let end = try #require(html.range(of: "</script>", range: after..<html.endIndex)).lowerBound
            self = try JSONDecoder().decode(Pictures.self, from: Data(html[after..<end].utf8))
        }

        func svg(_ frame: Int, _ surface: Int) -> String? {
            let picture = frames[frame][surface]
            return picture < 0 ? nil : pictures[picture].map { lines[$0] }.joined(separator: "\n")
        }
    }

    @Test func everyPictureComesOutAsItWentIn() throws {
        let goal = "one–nil </script><b>&"
        let frames = [frame(0, "nil–nil"), frame(1, goal), frame(2, goal, surfaces: ["Lock Screen"])]
        let pictures = try Pictures(of: StoryPage(title: "match/1", frames: frames).html())
        #expect(pictures.places == ["compact", "Lock Screen"])
        for (index, frame) in frames.enumerated() {
            for (surface, name) in pictures.places.enumerated() {
                #expect(pictures.svg(index, surface) == frame.pictures.first { $0.surface == name }?.svg)
            }
        }
        #expect(pictures.svg(2, 0) == nil, "the island is gone after the end")
        #expect(Set(pictures.lines).count == pictures.lines.count)
        #expect(pictures.pictures.count == 4, "the last frame's picture is that of the frame before")
    }

    @Test func everyUpdateIsThereInWords() {
        var last = frame(1, "one–nil")
        last.alert = AlertText(title: "Goal! <Vale>", body: "H. Corvand")
        last.unsent = ["unchanged 12", "late 1"]
        last.dismissAfter = .seconds(1080)
        var gone = frame(2, "over")
        gone.dismissAfter = .zero
        let html = StoryPage(title: "A & B", frames: [frame(0, "nil–nil"), last, gone]).html()
        for words in [
            "<title>A &amp; B</title>", "<time datetime=\"2026-06-13T14:01:00.000Z\">14:01:00</time> <b>goal</b>",
            "<p class=\"alert\" dir=\"auto\">Alert: Goal! &lt;Vale&gt; — H. Corvand</p>",
            "<p class=\"spoken\" dir=\"auto\">one–nil spoken</p>",
            "Not sent since the update before: unchanged 12, late 1", "Ends; the card stays for 18 min",
            "Ends; the card goes at once", "All 3 updates", "One update alerts.",
        ] {
            #expect(html.contains(words), "\(words)")
        }
    }

    @Test func aStoryOfSeveralDaysNamesThem() {
        let html = StoryPage(title: "t", frames: [frame(0, "a"), frame(1440, "b")]).html()
        #expect(html.contains(">2026-06-14 14:00:00</time>"))
    }

    @Test func aStoryPageNeedsNoOtherFile() {
        let html = StoryPage(title: "t", frames: [frame(0, "a")], fontFace: "@font-face{font-family:Inter}").html()
        #expect(html.components(separatedBy: "@font-face").count == 2)
        for outside in ["http:", "https:", "src=", "@import", "<link"] {
            #expect(!html.contains(outside), "\(outside)")
        }
        #expect(StoryPage(title: "t", frames: []).html().contains("The recording has no update."))
    }

    /// A match day has thousands of updates, and one line of a picture changes in most.
    @Test func aLongStoryCostsItsDifferences() throws {
        let scores = (0..<2000).map { "score \($0 % 7)" }
        let html = StoryPage(title: "t", frames: scores.enumerated().map { frame($0.offset, $0.element) }).html()
        let pictures = try Pictures(of: html)
        // The first line and the text of seven scores on two surfaces, a rectangle, the end.
        #expect(pictures.lines.count == 7 + 7 * 2 + 1 + 1)
        #expect(pictures.pictures.count == 14)
        #expect(html.utf8.count < 2000 * 200, "the words of an update are most of it")
    }
}
