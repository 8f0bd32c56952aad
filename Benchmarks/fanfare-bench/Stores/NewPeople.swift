import Fanfare
import FanfareLog
import FanfareModel

/// New people: imported, loaded, and followed until they are durable.
enum NewPeople {
    private static let callers = 10_000
    private static let topics = 1000

    static func measure(_ sizes: StoreSizes) throws -> Figures {
        var figures = Figures()
        figures.note("people", sizes.people)
        try TemporaryStore.make(in: sizes.folder) { try imported(sizes.people, $0, &figures) }
        try TemporaryStore.make(in: sizes.folder) { try followed(sizes.people, $0, &figures) }
        return figures
    }

    private static func topic(_ person: Int) -> TopicID { TopicID("match/\(person % topics)") }

    private static func imported(_ people: Int, _ store: TemporaryStore, _ figures: inout Figures) throws {
        let importing = try ContinuousClock().measure { try store.importPeople(people, showing: topic) }
        figures.note("imported_people_per_s", (Double(people) / (importing / .seconds(1))).rounded())
        figures.note("stored_bytes_per_person", (Double(try store.bytes) / Double(people)).rounded())
        try check(store, people: people)
        // `check` has read the rows, so they are in the page cache.
        let engine = try Engine.loaded(with: people, of: store.folder, &figures)
        try finished { try await engine.end() }
    }

    private static func followed(_ people: Int, _ store: TemporaryStore, _ figures: inout Figures) throws {
        let engine = try Engine(benchmarking: store.folder)
        let seen = try finished {
            try await Callers.run(min(callers, people)) { caller, turn in
                let person = Person(caller + turn * min(callers, people))
                guard person.number < people else { return nil }
                return try await engine.follow(
                    .topic(topic(person.number)), activity: person.activity, subscriber: person.subscriber,
                    token: person.token())
            }
        }
        figures.note("callers", min(callers, people))
        seen.write("people", "followed_", to: &figures)
        try finished {
            try await engine.expect(activities: people)
            try await engine.end()
        }
        try check(store, people: people)
    }

    /// Compares each row with the person whose it is.
    private static func check(_ store: TemporaryStore, people: Int) throws {
        var (rows, wrong) = (0, 0)
        try store.readPeople { number, card in
            rows += 1
            if card.token != Person(number).token() || card.audience != .topic(topic(number)) { wrong += 1 }
        }
        guard rows == people, wrong == 0 else {
            throw BenchmarkFault("the store has \(rows) rows of \(people) people, \(wrong) of them wrong")
        }
    }
}
