import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfarePresentation
import FanfareReplay

/// `fanfare preview`: draws the cards of a topic or a lineup, on each surface where the system shows them.
struct PreviewCommand {
    /// File to write, and its form.
    enum Output: Equatable { case svg(String), html(String), png(String) }

    private(set) var paths: [String] = []
    private(set) var subject: ExplainCommand.Subject?
    private(set) var favourite: TopicID?
    private(set) var at: FeedTime?
    private(set) var isStory = false
    private(set) var checks = false
    private(set) var outputs: [Output] = []
    private(set) var printed: String?
    private var devices = PreviewCommand.drawn
    private var feed = FeedOptions()
    private var rules = Rules.builtIn
    private var rulesFile: String?
    private var look = PreviewLook()
    private var phoneFile: String?
    private var phone: PhoneScript?

    /// One device of each family is drawn; all are checked.
    private static let drawn = [Device.phones[0], Device.pads[1], Device.watches[0], Device.cars[0]]

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var asked: [ExplainCommand.Subject] = []
        var named: [Device] = []
        while let word = try arguments.next() {
            switch word {
            case .option("--topic"): asked.append(.topic(TopicID(try arguments.text("a topic's id, as match/1001"))))
            case .option("--lineup"): asked.append(.lineup(try arguments.topics()))
            case .option("--favourite"): favourite = TopicID(try arguments.text("one of the lineup's topics"))
            case .option("--at"): at = try arguments.time()
            case .option("--device"): named.append(try arguments.device())
            case .option("--story"): isStory = true
            case .option("--phone"): phoneFile = try arguments.text("a file with a phone's events")
            case .option("--check"): checks = true
            case .option("--svg"): outputs.append(.svg(try arguments.text("a file to write, or -")))
            case .option("--html"): outputs.append(.html(try arguments.text("a file to write, or -")))
            case .option("--png"): outputs.append(.png(try arguments.text("a file to write")))
            case .option("--template"): look.templateFile = try arguments.text("a template file")
            case .option("--print-template"): printed = try arguments.templateKind()
            case .option("--font"): look.fontFiles.append(try arguments.text("a font file"))
            case .option("--rules"):
                rulesFile = try arguments.rulesFile()
                rules = try rulesFile.map { (file) throws(UsageError) in try Arguments.rules(at: file) } ?? rules
            case .option("--format"): feed.format = try arguments.format()
            case .option("--kickoff"): feed.kickoff = try arguments.time()
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare preview --help` lists them")
            case .operand(let path): paths.append(path)
            }
        }
        guard printed == nil else { return }
        if !named.isEmpty { devices = named }
        guard !paths.isEmpty else { throw UsageError("the feed is missing: files or folders") }
        guard !paths.contains("-") else {
            throw UsageError("-: a preview is made of a feed that is at hand; write it to a file and name that")
        }
        guard asked.count <= 1 else { throw UsageError("one preview at a time: --topic or --lineup, once") }
        guard !asked.isEmpty || checks && outputs.isEmpty && !isStory else {
            throw UsageError("--topic or --lineup is missing; only --check alone is for every topic of a feed")
        }
        subject = asked.first
        if let favourite {
            guard case .lineup(let topics) = subject else {
                throw UsageError("--favourite: only means something with --lineup")
            }
            guard topics.contains(favourite) else {
                throw UsageError("--favourite \(favourite): is none of the lineup's topics")
            }
        }
        if isStory { try requireStory(devices: named.count) }
        guard let phoneFile else { return }
        guard isStory else { throw UsageError("--phone: only means something with --story") }
        let script = try PhoneScript(file: phoneFile)
        if case .lineup = subject, script.hasUpdates {
            throw UsageError("--phone \(phoneFile): updates of the app are drawn for --topic only, not for a lineup")
        }
        phone = script
    }

    private func requireStory(devices: Int) throws(UsageError) {
        guard devices <= 1 else {
            throw UsageError("--device: a story shows one device; name one, or none for a phone")
        }
        for output in outputs {
            if case .html = output { continue }
            throw UsageError("--story: a recording is a page; expected --html FILE")
        }
        guard checks || outputs.count == 1 else { throw UsageError("--story: expected --html FILE, --check or both") }
    }

    func run() throws -> ExitStatus {
        if let printed {
            try Console.print(CardTemplate.builtInFile(printed) ?? "")
            return .done
        }
        try checkOutputs()
        let studio = try PreviewStudio(look)
        let source = PreviewSource(paths: paths, feed: feed, rules: rules, until: at)
        defer { for line in source.unseen.lines { Console.complain(line) } }
        guard let subject else { return try checkAll(source, studio) }
        let moments = try moments(of: subject, in: source)
        return isStory
            ? try story(phone?.played(over: moments) ?? moments, source.unseen, studio)
            : try sheet(moments, source.unseen, studio)
    }

    /// Refuses to write to a file that is read, or twice to one file.
    private func checkOutputs() throws(UsageError) {
        var files = FileRoles()
        let named = [look.templateFile, rulesFile, phoneFile].compactMap(\.self)
        for path in paths + look.fontFiles + named { files.reads(path) }
        var targets: Set<String> = []
        for output in outputs {
            try files.check(output.path, option: output.option)
            guard targets.insert(FileRoles.target(of: output.path)).inserted else {
                throw UsageError("\(output.option) \(output.path): is written twice")
            }
        }
    }

    /// Checks every push to the followers of every topic.
    private func checkAll(_ source: PreviewSource, _ studio: PreviewStudio) throws -> ExitStatus {
        var found = FindingTally()
        var pushes = 0
        var fault: (any Error)?
        do {
            try source.forEachPush(to: nil) { moment in
                pushes += 1
                do {
                    for content in moment.looks(until: at) {
                        found.add(try studio.findings(of: content, on: Device.all), in: content)
                    }
                } catch {
                    fault = fault ?? error
                }
            }
        } catch {
            throw UsageError("\(error)")
        }
        if let fault { throw fault }
        guard pushes > 0 else {
            try Console.print("0 updates, so nothing was checked: \(source.unseen.reason)\n")
            return .incomplete
        }
        found.add(source.unseen)
        found.add(try studio.templateFindings(isWhole: at == nil))
        try Console.print("\(pushes.grouped) updates; \(found.text)\n")
        return found.isEmpty ? .done : .incomplete
    }

    private func moments(
        of subject: ExplainCommand.Subject, in source: PreviewSource
    ) throws(UsageError) -> [PreviewMoment] {
        do {
            switch subject {
            case .topic(let topic): return try source.moments(of: topic, all: isStory || checks)
            case .lineup(let topics):
                return try source.moments(of: topics, favourite: favourite, all: isStory || checks)
            }
        } catch {
            throw UsageError("\(error)")
        }
    }

    // MARK: - One moment

    private func sheet(
        _ moments: [PreviewMoment], _ unseen: UnseenEvents, _ studio: PreviewStudio
    ) throws -> ExitStatus {
        guard let last = moments.last(where: { $0.isPush }) else {
            throw UsageError("nothing has been sent\(at == nil ? "" : " by then"), so no phone shows a card")
        }
        let now = max(at ?? last.content.at, last.content.at)
        let moment = last.seen(at: now)
        let ending = last.ending(by: now)
        let isGone = ending.map { now >= $0.goneAt } ?? false
        // Earlier updates can still be checked.
        let onlyChecks = checks && outputs.isEmpty
        if let ending, isGone, !onlyChecks {
            throw UsageError("the activity ended at \(ending.at), and its card has been gone since \(ending.goneAt)")
        }
        // The system shows an alert as a banner for some seconds.
        let scenes = try studio.scenes(of: moment.content, on: devices.flatMap(\.surfaces))
            .filter { !isGone && ($0.surface.kind != .banner || last.showsBanner(at: now)) }
        guard !scenes.isEmpty || onlyChecks else {
            throw UsageError("the activity has ended, and the system keeps it on none of these surfaces")
        }
        let checked = checks ? try check(now > last.content.at ? moments + [moment] : moments, unseen, studio) : nil
        try studio.requireOwnTemplate()
        let findings = (scenes.flatMap(\.findings) + (try studio.sceneless(in: moment.content))).distinct
        if !outputs.isEmpty {
            let sheet = PreviewSheet(
                title: moment.title, subtitles: moment.times.map { "\($0.name): \($0.text)" }, scenes: scenes,
                findings: findings.filter { finding in !scenes.contains { $0.findings.contains(finding) } },
                studio.measure)
            for output in outputs { try write(sheet, to: output, studio) }
        }
        if !outputs.contains(where: \.isStandardOutput) {
            try Console.print(moment.text(scenes, findings, checked: checked?.text))
        } else if let checked, !checked.isEmpty {
            Console.complain(checked.text)
        }
        return checked?.isEmpty == false ? .incomplete : .done
    }

    /// Checks every moment on all devices.
    private func check(
        _ moments: [PreviewMoment], _ unseen: UnseenEvents, _ studio: PreviewStudio
    ) throws -> FindingTally {
        var found = FindingTally()
        found.add(unseen)
        for moment in moments {
            for content in moment.looks(until: at) {
                found.add(try studio.findings(of: content, on: Device.all), in: content)
            }
        }
        found.add(try studio.templateFindings(isWhole: at == nil))
        return found
    }

    private func write(_ sheet: PreviewSheet, to output: Output, _ studio: PreviewStudio) throws {
        switch output {
        case .svg(let path): try OutputFile.write(sheet.svg(), to: path, option: "--svg")
        case .html(let path): try OutputFile.write(sheet.html(), to: path, option: "--html")
        case .png(let path):
            // Fonts of other scripts draw beside the named ones.
            let fonts = look.fontFiles.isEmpty ? [] : look.fontFiles + studio.measure.fallbacksUsed
            try PNGFile.write(sheet.svg(), to: path, fonts: fonts)
        }
    }

    // MARK: - A recording

    private func story(
        _ moments: [PreviewMoment], _ unseen: UnseenEvents, _ studio: PreviewStudio
    ) throws -> ExitStatus {
        guard !moments.isEmpty else { throw UsageError("nothing was sent, so there is no story") }
        var shown = moments
        if let dismissal = moments.last(where: { $0.dismissAfter != nil })?.dismissal,
            !moments.contains(where: { $0.isGone && $0.content.at < dismissal.content.at })
        {
            shown.insert(dismissal, at: moments.firstIndex { $0.content.at > dismissal.content.at } ?? moments.count)
        }
        // The time after the last moment is unknown.
        shown =
            zip(shown, shown.dropFirst()).flatMap { moment, next in
                [moment] + [moment.turnedStale(before: next.content.at)].compactMap(\.self)
            } + shown.suffix(1)
        let found = checks ? try check(moments, unseen, studio) : FindingTally()
        for case .html(let path) in outputs {
            let frames = try shown.map { try studio.frame(of: $0, on: devices[0]) }
            try studio.requireOwnTemplate()
            let page = StoryPage(title: moments[0].title, frames: frames, fontFace: studio.measure.fontFace())
            try OutputFile.write(page.html(), to: path, option: "--html")
        }
        if !outputs.contains(where: \.isStandardOutput) {
            try Console.print("\(moments.count(where: \.isPush)) updates\(checks ? "; " + found.text : "")\n")
        } else if !found.isEmpty {
            Console.complain(found.text)
        }
        return found.isEmpty ? .done : .incomplete
    }
}

extension PreviewCommand.Output {
    fileprivate var path: String {
        switch self {
        case .svg(let path), .html(let path), .png(let path): path
        }
    }

    fileprivate var option: String {
        switch self {
        case .svg: "--svg"
        case .html: "--html"
        case .png: "--png"
        }
    }

    fileprivate var isStandardOutput: Bool { path == "-" }
}

extension Arguments {
    fileprivate mutating func device() throws(UsageError) -> Device {
        try value("one of " + Device.all.map(\.id).joined(separator: ", ")) { id in Device.all.first { $0.id == id } }
    }

    fileprivate mutating func templateKind() throws(UsageError) -> String {
        try value("one of " + CardTemplate.builtInKinds.joined(separator: ", ")) {
            CardTemplate.builtInKinds.contains($0) ? $0 : nil
        }
    }
}

extension PreviewCommand {
    static let help = """
        Draws what people see of a topic or a lineup at a moment: the Dynamic Island, the Lock Screen, StandBy, iPad, Smart
        Stack, CarPlay and the Mac's menu bar, with the published sizes and text measured by a font. It is a sketch: the app draws
        the real card. The sketch marks elements that do not fit.

        usage: fanfare preview FEED… --topic T [options]
               fanfare preview FEED… --lineup A,B,C [options]
               fanfare preview FEED… --check
               fanfare preview --print-template KIND

          FEED             files and folders are one feed, merged by time
          --topic T        the topic's id
          --lineup A,B,C   ids of the topics that one activity shows, in the person's own order
          --favourite T    the lineup's topic that has the spotlight while nothing happens elsewhere
          --at TIME        the moment; without it, the last push
          --device D       iphone-393, iphone-430, ipad-1366, ipad-1194, ipad-1012, ipad-1080, ipad-1024, watch-40, watch-41,
                           watch-44, watch-45, watch-49, carplay-170, carplay-240 or carplay-240-tall; may be repeated; without it,
                           one of each
          --svg FILE       all surfaces as one picture
          --html FILE      all surfaces as a page
          --png FILE       all surfaces as one picture, made by rsvg-convert
          --story          every update of the feed, as a page for --html
          --phone FILE     events of the card on the story's phone beside pushes, as lines of JSON: updates by the app itself,
                           and Live Activities that the person turns off
          --check          looks for faults on all devices in every update until the moment: overflow, low contrast, a logo
                           alone, an empty side, an element that stands elsewhere in expanded than in compact, nothing for a
                           screen reader, a name that is cut, a field that is mistyped; timers count at their longest; without
                           --topic and --lineup in every topic
          --template FILE  a template of your own instead of the built-in one of its kind
          --print-template KIND
                           prints a built-in template, to copy: football, hockey, volleyball, transit, delivery, ride, queue,
                           workout, generic or lineup
          --font FILE      the font that measures and draws, instead of Inter: medium; given again, the semibold one
          --rules FILE     instead of the built-in rules
          --format F       native, wyscout, dfl, pwhl, dvw or gtfs-rt; without it, recognised by content
          --kickoff T      start of the first half, for match files without metadata

        Exit status: 0 done; 1 with --check, something is wrong; 2 usage.

        example:
          fanfare generate match-day --output day.ndjson
          fanfare preview day.ndjson --topic match/1002 --at 2026-06-13T14:30:00Z --html card.html

        """
}
