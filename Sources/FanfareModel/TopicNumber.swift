/// A topic as the core numbers it, so that nobody has to look up its name: where it is kept, a small number that is another topic's when
/// this one is forgotten, and its birth, which is no other one's.
package struct TopicNumber: Sendable, Hashable {
    package let place: UInt32
    /// Counts up over all topics of a core, from 1; 0: the publication was made by nobody who numbers topics.
    package let birth: UInt64

    package init(place: UInt32, birth: UInt64) {
        self.place = place
        self.birth = birth
    }

    package static let none = TopicNumber(place: 0, birth: 0)
}
