@testable import FanfareFanOut

/// Tests write places as numbers.
extension TopicIndex: ExpressibleByIntegerLiteral {
    init(integerLiteral place: Int) { self.init(place) }
}

extension AudienceIndex: ExpressibleByIntegerLiteral {
    init(integerLiteral place: Int) { self.init(place) }
}
