import CrashTest
import Foundation

/// Prints at once: a long run is read while it goes on.
private func tell(_ text: String) {
    print(text)
    fflush(nil)
}

/// A command with its options.
struct Run {
    let numbers: [String: Int]
    let fault: Fault?
    let folder: String?
    /// Is `true` if all faults are planted, one after the other.
    var isPlanting = false

    /// Runs the body in a folder. A temporary one stays after a failure, unless faults are planted.
    private func inFolder<Result>(
        _ body: (String) throws -> (result: Result, isGood: Bool)
    ) throws -> Result {
        let path = folder ?? NSTemporaryDirectory() + "fanfare-crash-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var isKept = folder != nil || fault == nil && !isPlanting
        defer { if !isKept { try? FileManager.default.removeItem(atPath: path) } }
        do {
            let (result, isGood) = try body(path)
            if folder == nil, isGood { isKept = false }
            if isKept { tell("the run's folder stays: \(path)") }
            return result
        } catch {
            if isKept { tell("the run's folder stays: \(path)") }
            throw error
        }
    }

    /// Report of a run on itself, beside the judge's findings.
    private struct Played {
        let summary: String
        let met: [(String, Int)]
    }

    /// - Returns: `true` if nothing is wrong.
    func rounds() throws -> Bool {
        var options = RoundsOptions()
        options.rounds = max(1, numbers["--rounds"] ?? options.rounds)
        options.seed = UInt64(numbers["--seed"] ?? 1)
        options.acknowledgements = max(1, numbers["--acknowledgements"] ?? options.acknowledgements)
        if let seconds = numbers["--seconds"] { options.seconds = seconds }
        options.fault = fault
        tell("seed \(options.seed), \(options.rounds) rounds")
        let (history, findings, rounds) = try play(options)
        tell("\(history.lives.last.map { $0.round - 1 } ?? 0) rounds\n\(rounds.summary)")
        let kills = Kills(history)
        tell(kills.text)
        tell(findings.text)
        var isGood = findings.violationCount == 0
        // A run in which nothing of these was seen says nothing of them.
        let seen = [
            ("alert", findings.cards.alerts), ("end", findings.cards.ends), ("start", findings.cards.starts),
            ("alert withheld by preferences of an earlier life", findings.cards.silencedAfterRestarts),
            ("start after a restart", findings.startsAfterRestarts),
            ("start that was given up", findings.startsUncertain),
            ("update of an earlier life's confirmation", findings.cards.confirmationsAfterRestarts),
            ("comparison when everything had arrived", findings.checkedAtSettlements),
        ]
        var met = rounds.met
        if !met.isEmpty {
            met.append(("comparison after an app's absence", findings.checkedAfterAbsences))
            met.append(("alert of an app's absence", findings.alertsOfAbsences))
        }
        for (name, count) in seen + met where count == 0 {
            tell("no \(name) was judged")
            isGood = false
        }
        for (name, count) in kills.wanted where count < numbers["--least"] ?? 0 {
            tell("only \(count) kills fell inside a \(name)")
            isGood = false
        }
        return isGood
    }

    private func play(_ options: RoundsOptions) throws -> (History, Findings, Played) {
        try inFolder { path in
            var options = options
            options.folder = path
            let rounds = try Rounds(options)
            let (history, dumps) = try rounds.run(report: tell)
            var judge = CrashJudge(history, try Record(dumps: dumps, history), seed: options.seed)
            let findings = judge.judge()
            let played = Played(summary: rounds.summary, met: rounds.met)
            return ((history, findings, played), findings.violationCount == 0)
        }
    }

    func sweep() throws -> Bool {
        try inFolder { path in
            var options = GoalSweep.Options()
            options.followers = max(1000, numbers["--followers"] ?? options.followers)
            options.fault = fault
            options.folder = path
            let sweep = try GoalSweep(options)
            var isGood = true
            _ = try sweep.run { moment in
                let share = Double(moment.have) / Double(options.followers)
                tell(
                    "goal \(moment.goal): killed at \(moment.before) alerts; \(moment.have) of \(options.followers) have it "
                        + "(\((share * 1000).rounded(.down) / 10) %), \(moment.twice) twice")
                if moment.twice > 0 || options.followers - moment.have > sweep.lostMax { isGood = false }
                // The promise to a goal's million; a smaller audience has the same blocks, which are more of it.
                if options.followers >= 1_000_000, share < 0.95 { isGood = false }
            }
            tell(
                isGood
                    ? "good: at most \(sweep.lostMax) may lack a goal"
                    : "wrong: at most \(sweep.lostMax) may lack a goal, and nobody has it twice")
            return (isGood, isGood)
        }
    }

    /// Each fault must be seen.
    func faults() throws -> Bool {
        var isGood = true
        for fault in Fault.allCases {
            var options = RoundsOptions()
            options.rounds = max(1, numbers["--rounds"] ?? 3)
            options.seed = UInt64(numbers["--seed"] ?? 1)
            options.fault = fault
            do {
                let findings = try play(options).1
                // Another violation would say nothing of this fault.
                let found = findings.violations.first { violation in
                    fault.words.contains { violation.text.contains($0) }
                }
                tell("\(fault.rawValue): \(findings.violationCount) violations; \(found?.text ?? "NOT SEEN")")
                if found == nil { isGood = false }
            } catch {
                tell("\(fault.rawValue): \(error)")
                isGood = false
            }
        }
        return isGood
    }
}

/// Kills by the phase in which they found the program.
private struct Kills {
    private var counts: [Phase: Int] = [:]
    private var commits = 0
    private var all = 0
    private var elsewhere = 0

    init(_ history: History) {
        for life in history.lives where life.killed != nil {
            all += 1
            for phase in life.phases { counts[phase, default: 0] += 1 }
            if life.phases.contains(where: { $0 == .entries || $0 == .people || $0 == .claims }) { commits += 1 }
            if life.phases.isEmpty { elsewhere += 1 }
        }
    }

    var wanted: [(String, Int)] {
        [
            ("commit", commits), ("sweep", counts[.sweep] ?? 0), ("start", counts[.start] ?? 0),
            ("loading", counts[.loading] ?? 0),
        ]
    }

    var text: String {
        let phases = Phase.allCases.map { "\(counts[$0] ?? 0) \($0)" }.joined(separator: ", ")
        return "\(all) kills: \(commits) inside a commit; by mark: \(phases); \(elsewhere) in none"
    }
}

extension Findings {
    fileprivate var text: String {
        let starts =
            "\(cards.starts) starts (\(startsAfterRestarts) after a restart; \(startsUncertain) given up, "
            + "\(startsLost) of them had not left; \(cards.confirmations) confirmed, of which \(cards.confirmationsAfterRestarts) "
            + "got an update in a later life)"
        let preferences =
            "preferences: \(cards.silenced) alerts came silently to cards that want none, \(cards.silencedAfterRestarts) of them by preferences "
            + "of an earlier life"
        var lines = [
            "judged: \(cards.pushes) pushes to \(checkedCards) cards, \(starts), \(cards.ends) ends (\(cards.endsAgain) again), "
                + "\(cards.alerts) alerts; \(checkedAtSettlements) cards compared when everything had arrived, "
                + "\(checkedAfterAbsences) of them after their app's absence",
            preferences,
            "superfluous: \(cards.superfluous) silent pushes for \(cards.restartsOfCards) restarts of cards, "
                + "\(CrashCosts.superfluousPerRestart) each may be",
            "alerts that kills have interrupted: \(alertsAtKills) followers, \(alertsLost) lack theirs, \(alertsLostAtOnce) of one alert at most; "
                + "\(cards.alertsRepeated) alerts came again after a disk had taken no claims",
            "alerts of an app's absence: \(alertsOfAbsences) followers, \(alertsAfterAbsences) got theirs when the app was back",
        ]
        for violation in violations { lines += [violation.text] + violation.history.map { "    " + $0 } }
        // The end of a long log says most.
        lines.append("\(violationCount) violations" + (violations.first.map { ", the first: \($0.text)" } ?? ""))
        return lines.joined(separator: "\n")
    }
}
