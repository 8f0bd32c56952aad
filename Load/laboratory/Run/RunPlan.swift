import Fanfare
import FanfareFeeds
import FanfareLoop
import FanfareModel
import Foundation

/// Everything that follows from a scenario before its engine exists: the schedule, the subscribers, the servers and the clock.
struct RunPlan {
    let scenario: Scenario
    let schedule: Schedule
    let population: Population
    let companions: Companions
    let setup: TransportSetup
    let start: ScheduleStart
    let clock: ClockSource

    /// - Throws: `LaboratoryError` for what keeps the run from beginning, and the errors of a recording.
    init(_ scenario: Scenario) throws {
        if let excess = scenario.excess { throw LaboratoryError("\(scenario.name): too large: \(excess)") }
        self.scenario = scenario
        let recording = try RunPlan.recording(of: scenario)
        guard recording?.isEmpty != true else { throw LaboratoryError("\(scenario.name): its recording has no event") }
        schedule = Schedule(scenario, recording: recording)
        population = Population(scenario, topics: schedule.topics)
        companions = try Companions(scenario)
        start = ScheduleStart()
        // Each event makes a publication at most, and each topic some while it opens; timers make one for several changes.
        let table = PublicationTable(capacity: 2 * schedule.arrivals.count + 4 * schedule.topics.count + 65_536)
        let plan = ProbePlan(schedule, population: population, start: start, shelf: ReadingShelf())
        setup = try TransportSetup(scenario, table, plan, companions)
        clock = RunPlan.clock(scenario, start)
    }

    /// Number of initial followers of the topics, by topic.
    func followers() -> [TopicID: Int] {
        Dictionary(zip(schedule.topics, population.followers()), uniquingKeysWith: +)
    }

    private static func recording(of scenario: Scenario) throws -> [(now: FeedTime, event: FeedEvent)]? {
        switch scenario.feed.source {
        case .rates: return nil
        case .recording(let paths): return try Schedule.read(paths.map(RunPlan.place))
        case .generator(let feed):
            let path = NSTemporaryDirectory() + "fanfare-load-\(UUID().uuidString).ndjson"
            var bytes: [UInt8] = []
            feed.write(seed: scenario.seed) { bytes += $0 }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try Schedule.read([path])
        }
    }

    /// A recording's path is relative to the folder of the recorded feeds, if the environment names one and it is there.
    private static func place(_ path: String) -> String {
        guard let folder = ProcessInfo.processInfo.environment["FANFARE_FEEDS"] else { return path }
        let place = "\(folder)/\(path)"
        return FileManager.default.fileExists(atPath: place) ? place : path
    }

    /// The system's clock, with the scenario's step.
    private static func clock(_ scenario: Scenario, _ start: ScheduleStart) -> ClockSource {
        guard let step = scenario.clockStep else { return .system }
        let at = (scenario.warmUp + step.at).wholeNanoseconds
        let by = step.by.milliseconds
        return ClockSource(
            wall: {
                let isSet = Clock.monotonicNanoseconds() >= start.moment + at
                return FeedTime(milliseconds: Clock.wallMilliseconds() + (isSet ? by : 0))
            }, monotonic: ClockSource.system.monotonic)
    }
}
