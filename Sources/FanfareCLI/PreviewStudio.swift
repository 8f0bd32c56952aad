import FanfareModel
import FanfarePresentation

/// Files that decide the look of a preview.
struct PreviewLook {
    var templateFile: String?
    /// Fonts of the weights, the lightest first; the last one serves the weights that have none.
    var fontFiles: [String] = []
}

/// Templates and font, ready to draw contents.
final class PreviewStudio {
    let measure: TextMeasure
    private let own: CardTemplate?
    private var builtIn: [String: CardTemplate] = [:]
    private var ownIsUsed = false
    /// Fields of the contents that the own template has drawn.
    private var seen: SeenFields?
    private var kinds: Set<String> = []

    init(_ look: PreviewLook) throws(UsageError) {
        do {
            measure = try TextMeasure(files: look.fontFiles)
            own = try look.templateFile.map { try CardTemplate(file: $0) }
        } catch {
            throw UsageError("\(error)")
        }
        // The system marks a stale card, and a lineup counts the topics left out.
        let added: Set<String> =
            own?.kind == CardTemplate.lineup ? [CardContent.staleField, "more"] : [CardContent.staleField]
        seen = own.map { SeenFields(added, for: $0) }
    }

    /// The template of an activity, and the one of the topic in its spotlight.
    private func templates(for content: CardContent) throws -> (outer: CardTemplate, inner: CardTemplate?) {
        let kind = content.kind.rawValue
        kinds.insert(kind)
        let isLineup = content.others != nil
        if let own, serves(kind) || isLineup && own.kind == CardTemplate.lineup {
            ownIsUsed = true
            for row in [content.state] + (content.others ?? []) { seen?.add(row) }
        }
        return isLineup ? (try template(CardTemplate.lineup), try template(kind)) : (try template(kind), nil)
    }

    /// Is `true` for the kind of the own template; one for `generic` serves all kinds without a built-in template.
    private func serves(_ kind: String) -> Bool {
        own?.kind == kind
            || own?.kind == TopicKind.generic.rawValue && !CardTemplate.builtInKinds.contains(kind)
    }

    /// - Throws: `UsageError` if the template that was named is for none of the contents.
    func requireOwnTemplate() throws(UsageError) {
        guard let own, !ownIsUsed, !kinds.isEmpty else { return }
        throw UsageError(
            "--template: its kind is \(own.kind), and what is shown is of kind \(kinds.sorted().joined(separator: ", ")); "
                + "expected a template of that kind")
    }

    /// Returns the faults of the own template beside all contents that it has drawn.
    ///
    /// - Parameter isWhole: is `true` if these are all contents of the feed.
    func templateFindings(isWhole: Bool) throws(UsageError) -> [Finding] {
        try requireOwnTemplate()
        guard let own, let seen else { return [] }
        return own.mistyped(amongst: seen, isWhole: isWhole)
    }

    private func template(_ kind: String) throws -> CardTemplate {
        if let own, serves(kind) { return own }
        if let known = builtIn[kind] { return known }
        let template = try CardTemplate.builtIn(kind)
        builtIn[kind] = template
        return template
    }

    func scenes(of content: CardContent, on surfaces: [Surface]) throws -> [Scene] {
        let (outer, inner) = try templates(for: content)
        return surfaces.compactMap { Layout.scene(of: content, by: outer, inner: inner, on: $0, measure) }
    }

    /// Returns findings that no single scene has: elements that stand on another side in expanded than in compact, short forms that
    /// are cut, and values that their elements cannot show.
    func sceneless(in content: CardContent) throws -> [Finding] {
        let (outer, inner) = try templates(for: content)
        // Elements of a lineup show its rows, not the state of its spotlight.
        return outer.movedElements(in: content, device: Device.phones[0]) + content.cutForms
            + (inner ?? outer).mistypedValues(in: content)
    }

    func findings(of content: CardContent, on devices: [Device]) throws -> [Finding] {
        try scenes(of: content, on: devices.flatMap(\.surfaces)).flatMap(\.findings) + sceneless(in: content)
    }

    /// The moment on the three surfaces that people look at most.
    func frame(of moment: PreviewMoment, on device: Device) throws -> StoryFrame {
        let shown = device.surfaces.filter { surface in
            switch surface.kind {
            case .compact, .expanded: true
            case .lockScreen: surface.appearance == .dark
            default: false
            }
        }
        let scenes = try scenes(of: moment.content, on: shown.isEmpty ? device.surfaces : shown)
        return StoryFrame(
            at: moment.content.at, cause: moment.cause, alert: moment.alert, unsent: moment.unsent,
            dismissAfter: moment.dismissAfter,
            // A card that is dismissed with its end is nowhere.
            pictures: moment.dismissAfter == .zero || moment.isGone
                ? []
                : scenes.map {
                    StoryFrame.Picture(
                        surface: $0.surface.name, svg: $0.svg(),
                        estimates: $0.estimates.joined(separator: ", "))
                },
            spoken: moment.isGone ? "" : scenes.first?.spoken ?? "")
    }
}

/// Findings of many moments: one entry for each finding about an element on a surface, with the first moment at which the finding holds.
struct FindingTally {
    private var first: [(finding: Finding, moment: String, count: Int)] = []
    private var indices: [Finding.Fault: Int] = [:]
    /// Unchecked parts of the feed.
    private var gap: String?

    var isEmpty: Bool { first.isEmpty && gap == nil }

    mutating func add(_ unseen: UnseenEvents) { gap = unseen.finding }

    /// - Parameter content: content of the moment; `nil` for findings of every moment.
    mutating func add(_ findings: [Finding], in content: CardContent? = nil) {
        let moment = content.map { "\($0.at)  \($0.topic)  " } ?? ""
        for finding in findings {
            if let index = indices[finding.fault] {
                first[index].count += 1
            } else {
                indices[finding.fault] = first.count
                first.append((finding, moment, 1))
            }
        }
    }

    var text: String {
        guard !isEmpty else { return "checked: nothing is wrong" }
        let lines =
            [gap].compactMap(\.self)
            + first.map { "\($0.moment)\($0.finding)" + ($0.count > 1 ? " (\($0.count) times)" : "") }
        return "\(lines.count) found\n" + lines.map { Console.quoted($0) }.joined(separator: "\n")
    }
}
