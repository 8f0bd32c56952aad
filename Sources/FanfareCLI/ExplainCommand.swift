import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfareReplay

/// `fanfare explain`: tells the story of a topic or of a lineup, to explain why a phone did or did not show something.
struct ExplainCommand {
    enum Subject: Equatable {
        case topic(TopicID)
        case lineup([TopicID])
    }

    private(set) var paths: [String] = []
    let subject: Subject
    private(set) var favourite: TopicID?
    private(set) var at: FeedTime?
    private(set) var showsEverything = false
    private var feed = FeedOptions()
    private var rules = Rules.builtIn

    init(_ words: [String]) throws(UsageError) {
        var arguments = Arguments(words)
        var asked: [Subject] = []
        while let word = try arguments.next() {
            switch word {
            case .option("--topic"): asked.append(.topic(TopicID(try arguments.text("a topic's id, as match/1001"))))
            case .option("--lineup"): asked.append(.lineup(try arguments.topics()))
            case .option("--favourite"): favourite = TopicID(try arguments.text("one of the lineup's topics"))
            case .option("--at"): at = try arguments.time()
            case .option("--all"): showsEverything = true
            case .option("--rules"): rules = try arguments.rules()
            case .option("--format"): feed.format = try arguments.format()
            case .option("--kickoff"): feed.kickoff = try arguments.time()
            case .option(let name): throw UsageError("\(name): unknown option; `fanfare explain --help` lists them")
            case .operand(let path): paths.append(path)
            }
        }
        guard !paths.isEmpty else { throw UsageError("the feed is missing: files or folders") }
        guard !paths.contains("-") else {
            throw UsageError("-: a story is told of a feed that is at hand; write it to a file and name that")
        }
        guard let first = asked.first else { throw UsageError("--topic or --lineup is missing: whose story to tell") }
        guard asked.count == 1 else { throw UsageError("one story at a time: --topic or --lineup, once") }
        subject = first
        switch subject {
        case .topic:
            if favourite != nil { throw UsageError("--favourite: only means something with --lineup") }
        case .lineup(let topics):
            if showsEverything { throw UsageError("--all: only means something with --topic") }
            if let favourite, !topics.contains(favourite) {
                throw UsageError("--favourite \(favourite): is none of the lineup's topics")
            }
        }
    }

    func run() throws -> ExitStatus {
        let (text, gaps) = try makeStory()
        try Console.print(text)
        return gaps.rejections > 0 ? .incomplete : .done
    }

    func story() throws(UsageError) -> String { try makeStory().text }

    private func makeStory() throws(UsageError) -> (text: String, gaps: FeedGaps) {
        do {
            switch subject {
            case .topic(let topic):
                let story = try TopicStory(of: topic, in: paths, feed: feed, rules: rules, until: at)
                guard !story.steps.isEmpty else {
                    throw UsageError("\(topic): the feed does not speak of it\(at.map { " until \($0)" } ?? "")")
                }
                return (story.text(showsEverything: showsEverything, at: at) + story.gaps.text, story.gaps)
            case .lineup(let topics):
                let story = try LineupStory(
                    of: topics, favourite: favourite, in: paths, feed: feed, rules: rules, until: at)
                return (story.text + story.gaps.text, story.gaps)
            }
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("\(error)")
        }
    }

    static let help = """
        Tells the story of a topic: each event and timer with its changes, the reason why a push did or did not leave, and the
        content of the alert buckets. Consecutive events without a visible change are one line. The story of a lineup has each
        push with the phone's display after it, and marks the topic in the spotlight. The cost of the largest push comes last.

        usage: fanfare explain FEED… --topic T [options]
               fanfare explain FEED… --lineup A,B,C [options]

          FEED             files and folders are one feed, merged by time
          --topic T        the topic's id
          --lineup A,B,C   ids of the topics that one activity shows, in the person's own order
          --favourite T    the lineup's topic that has the spotlight while nothing happens elsewhere
          --at TIME        the story until then, the phones' display at that time, and the pending changes
          --all            a line for every event (topics only)
          --rules FILE     instead of the built-in rules
          --format F       native, wyscout, dfl, pwhl, dvw or gtfs-rt; without it, recognised by content
          --kickoff T      start of the first half, for match files without metadata

        example:
          fanfare generate match-day --output day.ndjson
          fanfare explain day.ndjson --topic match/1002 --at 2026-06-13T14:30:00Z
          fanfare explain day.ndjson --lineup match/1001,match/1002,match/1003

        """
}

extension FeedGaps {
    /// Lines for people, which a story ends with; empty if the feed was whole.
    fileprivate var text: String {
        var lines = notices
        if let first {
            lines.append(
                "\(ofAnyTopic.grouped) \(ofAnyTopic == 1 ? "part" : "parts") of the feed could not be read, and may have been of this topic: "
                    + first)
        }
        return lines.map { Console.quoted($0) + "\n" }.joined()
    }
}

extension TopicStory {
    func text(showsEverything: Bool, at: FeedTime?) -> String {
        var lines: [String] = []
        var quiet = QuietRun()
        for step in steps {
            let isNews =
                step.record.outcome != .unchanged || !step.changes.isEmpty || step.record.alert != nil
                || step.isByOperator
            if showsEverything || isNews {
                quiet.end(into: &lines)
                lines += step.lines
            } else {
                quiet.add(step.record)
            }
        }
        quiet.end(into: &lines)
        lines.append("")
        lines += summary(at: at)
        // Text from the feed must not move the cursor.
        return lines.map { Console.quoted($0) }.joined(separator: "\n") + "\n"
    }

    private func summary(at: FeedTime?) -> [String] {
        guard let end else { return ["nothing of it could be read"] }
        var lines = [
            "\(at.map { "at \($0)" } ?? "at the end"): \(end.id), \(end.kind), "
                + (end.version == 0 ? "not shown yet" : "version \(end.version)\(end.ended ? ", ended" : "")")
        ]
        if let published = end.published { lines.append("    shown   \(published.line)") }
        if end.published != end.state { lines.append("    known   \(end.state.line)") }
        if let spoken = end.published?["spoken"]?.stringValue {
            lines.append("    spoken  \(spoken.utf8.count.grouped) bytes of each push: “\(spoken)”")
        }
        if let waitsUntil { lines.append("    waits   until \(waitsUntil)") }
        if !buckets.isEmpty { lines.append("    alerts  \(buckets.line)") }
        if let dearest { lines.append("    pushes  version \(dearest.version) is the largest: \(dearest.cost.text)") }
        return lines
    }

    /// Consecutive events without news, told in one line.
    private struct QuietRun {
        private var count = 0
        private var kinds: [String: Int] = [:]
        private var from: FeedTime?
        private var to: FeedTime?

        mutating func add(_ record: DecisionRecord) {
            count += 1
            kinds[record.kind, default: 0] += 1
            from = from ?? record.now
            to = record.now
        }

        mutating func end(into lines: inout [String]) {
            guard let from, let to else { return }
            let most = kinds.sorted { (-$0.value, $0.key) < (-$1.value, $1.key) }.prefix(3)
            let named = most.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            lines.append(
                "\(from)  \(count) \(count == 1 ? "event" : "events") until \(to): nothing people can see (\(named)"
                    + (kinds.count > most.count ? ", …)" : ")"))
            self = QuietRun()
        }
    }
}

extension TopicStory.Step {
    fileprivate var lines: [String] {
        var name = record.origin == .timer ? "timer \(record.kind)" : record.kind
        if let id = record.id, id != record.kind { name += " \(id)" }
        var head = "\(record.now)  \(name): \(record.outcome.rawValue)"
        if let version = record.version { head += " as version \(version)" }
        var lines = ["\(head): \(record.reason)"]
        if let at = record.at, at != record.now { lines.append("    happened at \(at)") }
        for change in changes {
            lines.append("    \(change.key): \(change.before?.line ?? "–") → \(change.after?.line ?? "–")")
        }
        if record.causes.count > 1 { lines.append("    carries \(record.causes.joined(separator: ", "))") }
        if let alert = record.alert {
            lines.append("    alert \(alert.rawValue): \(record.alertReason ?? "")")
            if let words = self.alert {
                let said = [words.title, words.body].map { "\($0)" }.filter { !$0.isEmpty }
                lines.append("    words: \(said.joined(separator: " — "))")
            }
            if !buckets.isEmpty { lines.append("    buckets: \(buckets.line)") }
        }
        if let dismissAfter {
            let minutes = (Double(dismissAfter.milliseconds) / 60_000).fixed(0)
            lines.append("    ends: the card \(dismissAfter == .zero ? "goes at once" : "stays for \(minutes) min")")
        }
        return lines
    }
}

extension [AlertBucket] {
    fileprivate var line: String {
        map { bucket in
            let wait =
                bucket.nextIn > .zero ? ", next in \((Double(bucket.nextIn.milliseconds) / 1000).fixed(0)) s" : ""
            return "\(bucket.name) \(bucket.tokens) of \(bucket.burst)\(wait)"
        }.joined(separator: "; ")
    }
}

extension JSONValue {
    fileprivate var line: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONObject {
    fileprivate var line: String { JSONValue.object(self).line }
}
