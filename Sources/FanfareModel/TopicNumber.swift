/// Number of a topic in the core, which saves receivers a look-up by id. It consists of the topic's place, a small number that another topic
/// may get once this one is forgotten, and of its birth, which is unique.
package struct TopicNumber: Sendable, Hashable {
    package let place: UInt32
    /// Number that counts up from 1 over all topics of a core; 0 if the publication's maker does not number topics.
    package let birth: UInt64

    package init(place: UInt32, birth: UInt64) {
        self.place = place
        self.birth = birth
    }

    package static let none = TopicNumber(place: 0, birth: 0)
}
