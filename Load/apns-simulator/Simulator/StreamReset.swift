/// Kind of a stream reset.
enum StreamReset {
    /// REFUSED_STREAM: the request was not examined.
    case refused
    /// INTERNAL_ERROR: the client cannot know whether the request was accepted.
    case failed(EntryIndex?)
}
