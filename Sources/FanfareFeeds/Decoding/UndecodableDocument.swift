import FanfareModel

/// Decoder for a document that cannot be decoded: yields one rejection, and the other files continue.
struct UndecodableDocument: FeedDecoder, Error {
    private var rejection: FeedRejection?

    init(_ location: String, _ reason: String) { rejection = FeedRejection(location: location, reason: reason) }

    mutating func next() -> FeedItem? { rejection.take().map(FeedItem.rejected) }
}
