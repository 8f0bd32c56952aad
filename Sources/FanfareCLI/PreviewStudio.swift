import FanfareModel
import FanfarePresentation

/// Files that decide the look of a preview.
struct PreviewLook {
    var templateFile: String?
    var fontFile: String?
}

/// Templates and font, ready to draw contents.
final class PreviewStudio {
    let measure: TextMeasure
    private let own: CardTemplate?
    private var builtIn: [String: CardTemplate] = [:]

    init(_ look: PreviewLook) throws(UsageError) {
        do {
            measure = try TextMeasure(file: look.fontFile)
            own = try look.templateFile.map { try CardTemplate(file: $0) }
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// The template of an activity, and the one of the topic in its spotlight.
    private func templates(for content: CardContent) throws -> (outer: CardTemplate, inner: CardTemplate?) {
        let kind = content.kind.rawValue
        guard content.others != nil else { return (try own ?? template(kind), nil) }
        // A template of one's own is for the lineup or for the topics in it.
        let isOwnLineup = own?.kind == CardTemplate.lineup
        return (
            try (isOwnLineup ? own : nil) ?? template(CardTemplate.lineup),
            try (isOwnLineup ? nil : own) ?? template(kind)
        )
    }

    private func template(_ kind: String) throws -> CardTemplate {
        if let known = builtIn[kind] { return known }
        let template = try CardTemplate.builtIn(kind)
        builtIn[kind] = template
        return template
    }

    func scenes(of content: CardContent, on places: [Place]) throws -> [Scene] {
        let (outer, inner) = try templates(for: content)
        return places.compactMap { Layout.scene(of: content, by: outer, inner: inner, on: $0, measure) }
    }

    /// Returns findings that no single scene has: elements that stand on another side in expanded than in compact, and short forms that
    /// are cut.
    func sceneless(in content: CardContent) throws -> [Finding] {
        try templates(for: content).outer.movedElements(in: content, device: Device.phones[0]) + content.cutForms
    }

    func findings(of content: CardContent, on devices: [Device]) throws -> [Finding] {
        try scenes(of: content, on: devices.flatMap(\.places)).flatMap(\.findings) + sceneless(in: content)
    }

    /// The moment in the three places that people look at most.
    func frame(of moment: PreviewMoment, on device: Device) throws -> StoryFrame {
        let shown = device.places.filter { place in
            switch place.kind {
            case .compact, .expanded: true
            case .lockScreen: place.appearance == .dark
            default: false
            }
        }
        let scenes = try scenes(of: moment.content, on: shown.isEmpty ? device.places : shown)
        return StoryFrame(
            at: moment.content.at, cause: moment.cause, alert: moment.alert, unsent: moment.unsent,
            dismissAfter: moment.dismissAfter,
            // A card that is dismissed with its end is nowhere.
            pictures: moment.dismissAfter == .zero
                ? []
                : scenes.map {
                    StoryFrame.Picture(
                        place: $0.place.name, svg: $0.svg(),
                        estimates: $0.place.estimates.joined(separator: ", "))
                },
            spoken: scenes.first?.spoken ?? "")
    }
}

/// Findings of many moments: each element's in a place once, with the first moment at which it is true.
struct FindingTally {
    private struct Key: Hashable {
        let kind: Finding.Kind
        let place: String
        let element: String?
    }

    private var first: [(finding: Finding, moment: String, count: Int)] = []
    private var indices: [Key: Int] = [:]

    var isEmpty: Bool { first.isEmpty }

    mutating func add(_ findings: [Finding], in content: CardContent) {
        for finding in findings {
            let key = Key(kind: finding.kind, place: finding.place, element: finding.element)
            if let index = indices[key] {
                first[index].count += 1
            } else {
                indices[key] = first.count
                first.append((finding, "\(content.at)  \(content.topic)", 1))
            }
        }
    }

    var text: String {
        guard !isEmpty else { return "checked: nothing is wrong" }
        let lines = first.map { "\($0.moment)  \($0.finding)" + ($0.count > 1 ? " (\($0.count) times)" : "") }
        return "\(first.count) found\n" + lines.map { Console.quoted($0) }.joined(separator: "\n")
    }
}

extension Scene {
    /// Size for people.
    var size: String {
        "\(width.twoDecimals) × \(height.twoDecimals)" + (place.scale == 1 ? "" : ", drawn at twice its size")
    }
}

extension Double {
    fileprivate var twoDecimals: String {
        let text = fixed(2)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
    }
}
