import APNsSimulator
import FanfareLog
import FanfareLoop
import FanfareModel
import Foundation

/// Kills of a program in the middle of a goal's sweep, at ten moments: who has heard of the goal when the next program has done its
/// work, and who twice.
package final class GoalSweep {
    package struct Options: Sendable {
        package var followers = 1_000_000
        package var folder = ""
        package var fault: Fault?

        package init() {}
    }

    package struct Moment: Sendable {
        package let goal: Int
        /// Alerts that had been accepted at the kill, followers who have the alert at the end, and those who have it twice.
        package let before: Int
        package let have: Int
        package let twice: Int
    }

    /// Alerts of the goal that is being swept, counted on the simulator's thread.
    private struct Tally {
        var heard: [UInt8]
        var goal = -1
        var count = 0
        /// Number of alerts at which the program is killed.
        var target = Int.max
        var pid: pid_t = 0
    }

    private let options: Options
    private let service: Service
    private let tally: Locked<Tally>
    private let programOptions: Program.Options
    private var child: Child?
    private var request = 0

    private static let topic = "crowd/0"
    private static let moments = 10
    private static let cardsPerTransaction = 10_000

    package init(_ options: Options) throws {
        self.options = options
        tally = Locked(Tally(heard: Array(repeating: 0, count: options.followers)))
        let certificates = options.folder + "/certificates"
        try Service.makeCertificates(in: certificates)
        service = try Service(certificates: certificates, options: []) { [tally] push in
            guard let alert = push.alert else { return }
            tally.withLock { tally in
                guard alert == tally.goal else { return }
                let card = Names.card(of: push.token)
                tally.heard[card] = min(tally.heard[card], 254) + 1
                tally.count += 1
                if tally.count == tally.target { kill(tally.pid, SIGKILL) }
            }
        }
        var program = Program.Options()
        program.folder = options.folder + "/store"
        program.marks = options.folder + "/marks"
        program.ports = [.first: service.port]
        program.certificates = certificates
        program.fault = options.fault
        programOptions = program
    }

    /// - Parameter report: called with each moment.
    package func run(report: (Moment) -> Void) throws -> [Moment] {
        try importPeople()
        try start()
        try ask(.change(.event, topic: GoalSweep.topic, number: 1), wants: .durable)
        try ask(.settle, wants: .settled)
        var found: [Moment] = []
        for goal in 1...GoalSweep.moments {
            let moment = try play(goal)
            report(moment)
            found.append(moment)
        }
        try ask(.stop, wants: .stopped(owed: 0, unstored: 0))
        _ = child?.reap()
        return found
    }

    /// Most alerts that the documents allow one crash to lose.
    package var lostMax: Int {
        let flying = Program.Options.shards * Program.Options.connectionsPerShard * 1000
        return CrashCosts.alertsLost(followers: options.followers, shards: Program.Options.shards, flying: flying)
    }

    private func importPeople() throws {
        let store = try LMDBPeopleStore(store: options.folder + "/store")
        let now = FeedTime(milliseconds: Clock.wallMilliseconds())
        for first in stride(from: 0, to: options.followers, by: GoalSweep.cardsPerTransaction) {
            let cards = first..<min(first + GoalSweep.cardsPerTransaction, options.followers)
            try store.apply(
                cards.map { card in
                    .insert(
                        Card(
                            subscriber: Names.subscriber(of: card), activity: Names.activity(card),
                            token: Names.token(card: card, generation: 0), audience: .topic(TopicID(GoalSweep.topic)),
                            startedAt: now))
                }, upTo: store.position)
        }
    }

    private func play(_ goal: Int) throws -> Moment {
        guard let pid = child?.pid else { throw CrashError("there is no program") }
        tally.withLock { tally in
            tally.heard.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
            (tally.goal, tally.count, tally.pid) = (goal - 1, 0, pid)
            tally.target = max(1, options.followers * goal / (GoalSweep.moments + 1))
        }
        request += 1
        child?.send(request, .change(.alert, topic: GoalSweep.topic, number: goal + 1))
        guard let status = child?.reap(), status == -SIGKILL else { throw CrashError("the program ends by itself") }
        child = nil
        try service.drain()
        let before = tally.withLock { tally in
            tally.target = .max
            return tally.count
        }
        try start()
        try ask(.settle, wants: .settled)
        return tally.withLock { tally in
            Moment(
                goal: goal, before: before, have: tally.heard.count { $0 > 0 }, twice: tally.heard.count { $0 > 1 })
        }
    }

    private func start() throws(CrashError) {
        let new = try Child(programOptions.arguments, log: options.folder + "/program.log")
        child = new
        guard let first = new.receive(within: 120_000)?.first, first.words.first == "ready" else {
            throw CrashError("the program does not begin; \(options.folder)/program.log may say why")
        }
    }

    private func ask(_ question: Request, wants wanted: Answer) throws(CrashError) {
        request += 1
        child?.send(request, question)
        guard let answer = child?.receive(within: 120_000)?.first.map({ Answer($0.words) }), answer == wanted else {
            throw CrashError("\(question.line): not \(wanted.line)")
        }
    }
}
