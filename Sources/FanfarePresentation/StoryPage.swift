package import FanfareModel

/// One update of a recording, as people see it.
package struct StoryFrame: Sendable {
    /// One presentation of the update.
    package struct Picture: Sendable {
        /// Name of the place for people, such as `Lock Screen, dark`.
        package var place: String
        /// A whole `<svg>` element, without a font of its own: the page brings one for all.
        package var svg: String

        package init(place: String, svg: String) {
            self.place = place
            self.svg = svg
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
    package var pictures: [Picture]
    /// The update as a screen reader says it.
    package var spoken: String

    package init(
        at: FeedTime, cause: String, alert: AlertText? = nil, unsent: [String] = [], pictures: [Picture] = [],
        spoken: String
    ) {
        self.at = at
        self.cause = cause
        self.alert = alert
        self.unsent = unsent
        self.pictures = pictures
        self.spoken = spoken
    }
}

/// A recording as a self-contained page: a frame for each update.
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
            </style>
            <h1>\(title.escapedForMarkup)</h1>

            """
        for frame in frames {
            html += "<section>\n<h2>\(frame.at) \(frame.cause.escapedForMarkup)</h2>\n"
            if let alert = frame.alert { html += "<p>\("\(alert.title) \(alert.body)".escapedForMarkup)</p>\n" }
            if !frame.unsent.isEmpty {
                html += "<p>Not sent: \(frame.unsent.joined(separator: ", ").escapedForMarkup)</p>\n"
            }
            html += frame.pictures.map { "<figure>\($0.svg)<figcaption>\($0.place)</figcaption></figure>\n" }.joined()
            html += "</section>\n"
        }
        return html + "</html>\n"
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
