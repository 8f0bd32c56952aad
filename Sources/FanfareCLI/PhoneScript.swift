import FanfareFeeds
import FanfareJSON
import FanfareModel
import FanfarePresentation
import FanfareReplay
import Foundation

/// Events of an activity on one phone beside pushes: the app updates it locally, or the person turns Live Activities off.
struct PhoneScript {
    enum Event: Equatable {
        /// The app merges this into its content. The system orders updates by stamps of whole seconds, wherever they come from.
        case update(JSONObject, stamp: FeedTime)
        /// The system ends all Live Activities of the app, and removes them.
        case turnedOff
    }

    private struct Line {
        let number: Int
        let at: FeedTime
        let event: Event
    }

    private let file: String
    private let lines: [Line]

    /// Is `true` if the app updates the card.
    var hasUpdates: Bool { lines.contains { if case .update = $0.event { true } else { false } } }

    /// Greatest file that is read: far more than a person writes.
    private static let sizeMax = ByteCount.mebibytes(1)

    /// Reads a file with a JSON object in each line, in order of time.
    init(file: String) throws(UsageError) {
        guard let handle = FileHandle(forReadingAtPath: file),
            let data = try? handle.read(upToCount: PhoneScript.sizeMax.bytes + 1)
        else { throw UsageError("--phone \(file): cannot be read as a file, or is empty") }
        guard data.count <= PhoneScript.sizeMax.bytes else {
            throw UsageError("--phone \(file): has more than \(PhoneScript.sizeMax.bytes >> 20) MB")
        }
        var lines: [Line] = []
        for (index, text) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard text.contains(where: { !" \t\r".utf8.contains($0) }) else { continue }
            do {
                let line = try PhoneScript.line(Array(text), number: index + 1)
                if let last = lines.last, line.at < last.at { throw UsageError("at: is before the line above") }
                lines.append(line)
            } catch { throw UsageError("\(file):\(index + 1): \(error)") }
        }
        self.file = file
        self.lines = lines
    }

    private static func line(_ bytes: [UInt8], number: Int) throws(UsageError) -> Line {
        guard let object = JSONObject(parsing: bytes) else { throw UsageError("is no JSON object") }
        guard let at = object["at"]?.stringValue.flatMap({ FeedTime(rfc3339: $0) }) else {
            throw UsageError("at: expected a time, as 2026-06-13T14:00:00Z")
        }
        for key in object.members.map(\.key) where !["at", "update", "stamp", "turnedOff"].contains(key) {
            throw UsageError("\(key): unknown; expected at, update, stamp or turnedOff")
        }
        switch (object["update"], object["turnedOff"]) {
        case (.object(let fields), nil):
            guard let named = object["stamp"] else {
                return Line(number: number, at: at, event: .update(fields, stamp: at))
            }
            guard let stamp = named.stringValue.flatMap({ FeedTime(rfc3339: $0) }) else {
                throw UsageError("stamp: expected a time, as 2026-06-13T14:00:00Z")
            }
            return Line(number: number, at: at, event: .update(fields, stamp: stamp))
        case (nil, .bool(true)) where object["stamp"] == nil: return Line(number: number, at: at, event: .turnedOff)
        default:
            throw UsageError(
                "expected either update, an object with the fields that the app changes, or turnedOff = true")
        }
    }

    /// Returns the moments of an activity as this phone has them.
    ///
    /// - Parameter moments: moments of a phone without other events, in order of time.
    /// - Throws: `UsageError` for an event at a time at which the phone has no card.
    func played(over moments: [PreviewMoment]) throws(UsageError) -> [PreviewMoment] {
        var card = PhoneCard()
        var rest = lines[...]
        for moment in moments {
            while let line = rest.first, line.at < moment.content.at {
                try take(line, on: &card)
                rest.removeFirst()
            }
            card.take(moment)
        }
        for line in rest { try take(line, on: &card) }
        return card.story
    }

    private func take(_ line: Line, on card: inout PhoneCard) throws(UsageError) {
        guard card.isShown(at: line.at) else {
            throw UsageError("\(file):\(line.number): at \(line.at) the phone has no card")
        }
        card.take(line.event, at: line.at)
    }
}

/// An activity on a phone, and its story.
private struct PhoneCard {
    private(set) var moments: [PreviewMoment] = []
    /// The shown moment; `nil` before the first push and after the card has gone.
    private var shown: PreviewMoment?
    /// Stamp of the shown content, in whole seconds.
    private var stamp = Int64.min
    private var isOff = false
    /// Pushes of the topic since the person has turned Live Activities off.
    private var unsent = 0
    private var unsentUntil: FeedTime?

    /// The story, with this phone's unsent changes at its end.
    var story: [PreviewMoment] {
        guard isOff, unsent > 0, let last = moments.last else { return moments }
        var rest = last.rest(["to an unfollowed card \(unsent)"], at: unsentUntil ?? last.content.at)
        rest.isGone = true
        return moments + [rest]
    }

    mutating func take(_ moment: PreviewMoment) {
        guard !isOff else {
            unsentUntil = moment.content.at
            return unsent += moment.isPush ? 1 : 0
        }
        var moment = moment
        guard moment.isPush else {
            if let shown { moment.content.state = shown.content.state }
            return moments.append(moment)
        }
        // Documented: data older than that of the last update or push is ignored (A13). Equal seconds are unconfirmed, and pass here.
        guard moment.content.at.wholeSeconds >= stamp else {
            guard var kept = shown else { return }
            kept.content.at = moment.content.at
            kept.cause = "\(moment.cause), which the phone ignores: what it shows has a newer stamp"
            (kept.alert, kept.unsent, kept.isPush) = (nil, moment.unsent, false)
            return moments.append(kept)
        }
        stamp = moment.content.at.wholeSeconds
        shown = moment
        moments.append(moment)
    }

    /// Returns `true` while there is a card that could be changed or turned off.
    func isShown(at time: FeedTime) -> Bool {
        guard let shown, !isOff else { return false }
        return shown.ending(by: time).map { time < $0.goneAt } ?? true
    }

    /// - Parameter time: a time at which the card is shown.
    mutating func take(_ event: PhoneScript.Event, at time: FeedTime) {
        guard let known = shown else { return }
        switch event {
        case .update(let fields, let newer):
            var content = known.content
            let isIgnored = newer.wholeSeconds < stamp || isEnded
            content.at = time
            if !isIgnored { content.state.merge(fields) }
            let reason = isEnded ? "the activity has ended" : "its stamp is older than the last push"
            var moment = PreviewMoment(
                content: content, title: known.title,
                cause: "the app updates its card\(isIgnored ? ", which the phone ignores: \(reason)" : "")", unsent: [])
            (moment.isPush, moment.staleAt, moment.limit) = (false, known.staleAt, known.limit)
            moments.append(moment)
            guard !isIgnored else { return }
            stamp = newer.wholeSeconds
            shown = moment
        case .turnedOff:
            isOff = true
            var content = known.content
            content.at = time
            moments.append(
                PreviewMoment(
                    content: content, title: known.title,
                    cause: "the person turns Live Activities off; the backend unfollows the card", unsent: [],
                    isPush: false,
                    isGone: true))
        }
    }

    private var isEnded: Bool { shown?.dismissAfter != nil }
}

extension FeedTime {
    fileprivate var wholeSeconds: Int64 { milliseconds / 1000 }
}
