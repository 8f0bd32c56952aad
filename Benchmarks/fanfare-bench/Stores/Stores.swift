import Foundation

/// Benchmarks of an engine with a store. Each part prints one JSON object, with units in the names of its figures.
enum Stores {
    enum Part: String, CaseIterable {
        /// Events until they are durable.
        case durability
        /// Events until they are durable, while rows of the people are rewritten.
        case rewriting
        /// New people until they are durable, imported and loaded.
        case people
        /// Sweeps, and goals to lineups, with a store and without one.
        case cost
        /// Goals beside the ends of everybody else's cards.
        case ends
        /// A whole engine that is created on a store of which nothing is in the page cache.
        case restart
        /// One such engine, for `restart`, in a process of its own.
        case start
        /// One engine's sweeps, for `cost`, in a process of its own.
        case sweeps
        /// One engine's goals to lineups, for `cost`, in a process of its own.
        case lineups
    }

    /// Runs a part, or says in a sentence why its figures do not count.
    static func report(_ part: Part, _ sizes: StoreSizes) {
        let figures: Figures
        // Stores are removed when `measure` returns, before the process ends.
        do { figures = try measure(part, sizes) } catch {
            FileHandle.standardError.write(Data("fanfare-bench: \(part.rawValue): \(error)\n".utf8))
            exit(1)
        }
        print(figures.json)
    }

    private static func measure(_ part: Part, _ sizes: StoreSizes) throws -> Figures {
        switch part {
        case .durability: try Durability.measure(sizes)
        case .rewriting: try Rewriting.measure(sizes)
        case .people: try NewPeople.measure(sizes)
        case .cost: try StoreCost.measure(sizes)
        case .ends: try Ends.measure(sizes)
        case .restart: try EngineRestart.measure(sizes)
        case .start: try EngineStart.measure(sizes)
        case .sweeps: try Sweeps.measure(sizes)
        case .lineups: try LineupGoals.measure(sizes)
        }
    }
}
