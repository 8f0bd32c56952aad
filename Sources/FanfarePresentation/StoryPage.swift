package import FanfareModel

/// One update of a recording, as people see it.
package struct StoryFrame: Sendable {
    /// One presentation of the update.
    package struct Picture: Sendable {
        /// Name of the surface for people, such as `Lock Screen, dark`.
        package var surface: String
        /// A whole `<svg>` element, without a font of its own: the page brings one for all.
        package var svg: String
        /// Measures that Apple does not publish; empty for none.
        package var estimates: String

        package init(surface: String, svg: String, estimates: String = "") {
            self.surface = surface
            self.svg = svg
            self.estimates = estimates
        }
    }

    /// Log time of the update.
    package var at: FeedTime
    /// Events that caused the update, in a few words.
    package var cause: String
    /// Alert that rides on the update.
    package var alert: AlertText?
    /// Changes since the frame before that were not sent, each with reason and count: `unchanged 12`.
    package var unsent: [String]
    /// Time for which the card stays; `nil` unless the update ends the activity.
    package var dismissAfter: Duration?
    /// Pictures of the surfaces that show the update; a surface that other frames have and this one lacks shows nothing.
    package var pictures: [Picture]
    /// The update as a screen reader says it.
    package var spoken: String

    package init(
        at: FeedTime, cause: String, alert: AlertText? = nil, unsent: [String] = [], dismissAfter: Duration? = nil,
        pictures: [Picture] = [], spoken: String
    ) {
        self.at = at
        self.cause = cause
        self.alert = alert
        self.unsent = unsent
        self.dismissAfter = dismissAfter
        self.pictures = pictures
        self.spoken = spoken
    }
}

/// A recording as a self-contained page: a frame for each update, of which the page draws one at a time.
///
/// A match day has thousands of frames whose pictures differ in a few lines. The page has each line of a picture once, each picture as a
/// list of lines, and each frame as a list of pictures. Without scripts the page is a list of all updates in words.
package struct StoryPage: Sendable {
    package var title: String
    package var frames: [StoryFrame]
    /// `@font-face` rules of the font with which the pictures' texts were measured; empty for a page without.
    package var fontFace: String

    package init(title: String, frames: [StoryFrame], fontFace: String = "") {
        self.title = title
        self.frames = frames
        self.fontFace = fontFace
    }

    package func html() -> String {
        var html = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title.escapedForMarkup)</title>
            <style>
            \(fontFace)
            \(StoryStyle.css)
            </style>
            <header>
            <h1>\(title.escapedForMarkup)</h1>
            <p>An honest sketch, drawn from the feed by the published sizes. The app draws the real card.</p>
            </header>

            """
        guard !frames.isEmpty else { return html + "<main><p>The recording has no update.</p></main>\n</html>\n" }
        html += "<main>\n\(StoryPage.stage(of: frames.count))<section aria-labelledby=\"all\">\n"
        html += "<h2 id=\"all\">All \(frames.count) updates</h2>\n<p>Times are UTC. \(alerts)</p>\n"
        html += "<ol id=\"updates\">\n"
        let isOneDay = Set(frames.map { $0.at.description.prefix(10) }).count == 1
        for (index, frame) in frames.enumerated() { html += frame.item(index, isOneDay: isOneDay) }
        html += "</ol>\n</section>\n</main>\n<script id=\"pictures\" type=\"application/json\">"
        html += StoryPictures(of: frames).json
        return html + "</script>\n<script>\n\(StoryScript.source)\n</script>\n</html>\n"
    }

    private var alerts: String {
        switch frames.count(where: { $0.alert != nil }) {
        case 0: "No update alerts."
        case 1: "One update alerts."
        case let count: "\(count) updates alert."
        }
    }

    /// The part of the page that shows one frame; a script fills it.
    private static func stage(of count: Int) -> String {
        """
        <section id="stage" aria-label="One update" tabindex="-1" hidden>
        <div id="frame"></div>
        <div id="places"></div>
        <p id="spoken" dir="auto" aria-live="polite"></p>
        <div id="controls" role="group" aria-label="Updates">
        <input id="place" type="range" min="0" max="\(count - 1)" value="0" step="1" aria-label="Update">
        <svg id="alerts" aria-hidden="true" viewBox="0 0 \(max(1, count - 1)) 1" preserveAspectRatio="none"><path/></svg>
        <button type="button" id="previous">Previous</button>
        <button type="button" id="play">Play</button>
        <button type="button" id="next">Next</button>
        <button type="button" id="alert">Next alert</button>
        </div>
        <p class="note">Estimates: \(Surface.commonEstimates); others are named below each picture.</p>
        <p class="note">Keys, once the pictures or a button here is chosen: ← and → one update, Home and End, space plays, A goes to the next alert.</p>
        </section>
        <noscript><p>Pictures need scripts; the list below has every update in words.</p></noscript>

        """
    }
}

extension StoryFrame {
    /// The update in words.
    fileprivate func item(_ index: Int, isOneDay: Bool) -> String {
        let day = at.description.prefix(10)
        let time = at.description.dropFirst(11).prefix(8)
        var html =
            "<li id=\"u\(index)\"><a href=\"#u\(index)\">"
            + "<time datetime=\"\(at)\">\(isOneDay ? "" : "\(day) ")\(time)</time> <b>\(cause.escapedForMarkup)</b></a>\n"
        func line(_ name: String, _ text: String) {
            html += "<p class=\"\(name)\" dir=\"auto\">\(text.escapedForMarkup)</p>\n"
        }
        if let alert {
            let words = [alert.title.description, alert.body.description].filter { !$0.isEmpty }
            line("alert", "Alert: \(words.joined(separator: " — "))")
        }
        if !spoken.isEmpty { line("spoken", spoken) }
        if !unsent.isEmpty { line("unsent", "Not sent since the update before: \(unsent.joined(separator: ", "))") }
        if let dismissAfter {
            let minutes = (dismissAfter.components.seconds + 30) / 60
            line("end", "Ends; the card \(dismissAfter == .zero ? "goes at once" : "stays for \(minutes) min")")
        }
        return html + "</li>\n"
    }
}

/// The pictures of a story with each line and each picture once.
private struct StoryPictures {
    private var lines: [Substring] = []
    private var lineIndexes: [Substring: Int] = [:]
    private var surfaces: [String] = []
    private var estimates: [String] = []
    private var pictures: [[Int]] = []
    private var pictureIndexes: [[Int]: Int] = [:]
    /// For each frame, the picture of each surface; −1 for a surface that shows nothing.
    private var frames: [[Int]] = []

    init(of story: [StoryFrame]) {
        for frame in story {
            for picture in frame.pictures where !surfaces.contains(picture.surface) {
                surfaces.append(picture.surface)
                estimates.append(picture.estimates)
            }
        }
        for frame in story {
            frames.append(
                surfaces.map { surface in frame.pictures.first { $0.surface == surface }.map { add($0.svg) } ?? -1 })
        }
    }

    private mutating func add(_ svg: String) -> Int {
        let picture = svg.split(separator: "\n").map { line in
            if let known = lineIndexes[line] { return known }
            lineIndexes[line] = lines.count
            lines.append(line)
            return lines.count - 1
        }
        if let known = pictureIndexes[picture] { return known }
        pictureIndexes[picture] = pictures.count
        pictures.append(picture)
        return pictures.count - 1
    }

    /// JSON for a `<script>` element, which the first `</` ends.
    var json: String {
        func array(_ numbers: [Int]) -> String { "[" + numbers.map { "\($0)" }.joined(separator: ",") + "]" }
        func texts(_ all: [some StringProtocol]) -> String {
            var bytes: [UInt8] = []
            JSONValue.array(all.map { .string(String($0)) }).write(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
                .split(separator: "<", omittingEmptySubsequences: false).joined(separator: "\\u003c")
        }
        return "{\"places\":\(texts(surfaces)),\n\"estimates\":\(texts(estimates)),\n\"lines\":\(texts(lines)),\n"
            + "\"pictures\":[\(pictures.map(array).joined(separator: ","))],\n"
            + "\"frames\":[\(frames.map(array).joined(separator: ","))]}"
    }
}

extension String {
    /// Text for the content or a quoted attribute of HTML and SVG. Characters that XML forbids become U+FFFD.
    package var escapedForMarkup: String {
        var escaped = ""
        escaped.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
