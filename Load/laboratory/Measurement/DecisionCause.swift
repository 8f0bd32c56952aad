package import FanfareModel

/// The arrival that is being decided.
package struct DecisionCause {
    package var topic: TopicID
    package var planned: Int64
    package var occasion: Occasion?

    package init(topic: TopicID, planned: Int64, occasion: Occasion?) {
        self.topic = topic
        self.planned = planned
        self.occasion = occasion
    }
}
