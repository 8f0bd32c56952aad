/// The way in which a connection ended.
enum ConnectionEnding {
    /// The connection never reached HTTP/2.
    case notOpened(String)
    /// The connection never reached HTTP/2, because this process may open no more files.
    case outOfFiles(String)
    /// The connection was open and broke or fell silent.
    case lost(String)
    /// The connection took no more requests, because the peer or the pool ended it, and has none in flight.
    case drained
}
