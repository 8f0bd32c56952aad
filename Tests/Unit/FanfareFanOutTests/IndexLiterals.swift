@testable import FanfareFanOut

/// Tests write places as numbers.
extension TableIndex: ExpressibleByIntegerLiteral {
    init(integerLiteral place: Int) { self.init(place) }
}
