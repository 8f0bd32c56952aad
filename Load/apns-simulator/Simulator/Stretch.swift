/// A number of requests or a length of time.
package enum Stretch: Sendable, Equatable {
    case requests(Int)
    case milliseconds(Int)
}
