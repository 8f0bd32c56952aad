import Fanfare
package import FanfareLog
import FanfareLoop
package import FanfareModel

/// Source that reads the people of a store slice by slice, so that no more than a thousand cards are in memory beside the shards.
package final class StoredPeople: SubscriberSource {
    package struct Counts: Sendable, Equatable {
        package var subscribers = 0
        /// Rows that cannot be read, and were left out.
        package var damaged = 0
        /// Fault of the first of these, with its place.
        package var fault: String?
    }

    private let store: any PeopleStore
    package let expectedCount: Int
    private let counted = Locked(Counts())

    /// - Parameter store: used by the thread that reads alone, from here on.
    package init(_ store: any PeopleStore) throws(LogError) {
        self.store = store
        expectedCount = try store.count()
    }

    /// Counts of the last whole reading.
    package var counts: Counts { counted.withLock(\.self) }

    package func read(_ take: (Subscription) -> String?) throws {
        var counts = Counts()
        try store.read { (key, found) throws(LogError) in
            switch found {
            case .success(let card):
                // A start that has no answer may have no card, and a card that is leaving is to be left alone.
                if card.phase == .shown, take(card.subscription()) == nil { counts.subscribers += 1 }
            case .failure(let error):
                counts.damaged += 1
                counts.fault = counts.fault ?? "card \(key.serial) of slice \(key.slice): \(error); \(error.remedy)"
            }
            return true
        }
        counted.withLock { $0 = counts }
    }
}
