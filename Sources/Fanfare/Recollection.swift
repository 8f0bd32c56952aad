import FanfareModel

/// Newest publication of each topic, while a core decides again what an earlier run has decided. The people of those publications are
/// served afterwards, once, from what each topic shows in the end.
struct Recollection {
    private var newest: [TopicID: Publication] = [:]

    /// Rules that were adopted. The first are those of the log's beginning.
    private var rules = 0
    /// `true` if some publications were decided by other rules than those that stand at the end.
    var hasOtherRules: Bool { rules > 1 }

    mutating func noteRules() { rules += 1 }

    mutating func note(_ publication: Publication) { newest[publication.topicID] = publication }

    mutating func forget(_ topic: TopicID) { newest[topic] = nil }

    /// Newest publications without their alerts, in the order in which they were decided. An alert that was decided before a restart
    /// has been sent or is out of date.
    var publications: [Publication] { newest.values.sorted { $0.serial < $1.serial }.map(\.silent) }
}
