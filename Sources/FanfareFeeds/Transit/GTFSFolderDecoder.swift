import FanfareModel

/// Decoder for the polls of one folder, in path order. Holds one poll at a time.
struct GTFSFolderDecoder: FeedDecoder {
    private let paths: [String]
    private let pollSizeMax: ByteCount
    private var polls: GTFSRealtimeDecoder
    private var position = 0
    private var pending: ArraySlice<FeedItem> = []

    init(paths: [String], stopNames: [String: String], pollSizeMax: ByteCount) {
        self.paths = paths
        self.pollSizeMax = pollSizeMax
        polls = GTFSRealtimeDecoder(stopNames: stopNames, pollSizeMax: pollSizeMax)
    }

    mutating func next() -> FeedItem? {
        while pending.isEmpty, position < paths.count {
            pending = read(paths[position])[...]
            position += 1
        }
        return pending.popFirst()
    }

    private mutating func read(_ path: String) -> [FeedItem] {
        do throws(FeedError) {
            // One byte more than allowed, so that a larger poll is recognised.
            let bytes = try ByteFile.prefix(of: path, limit: pollSizeMax + .bytes(1))
            return polls.read(bytes, name: path)
        } catch {
            return [.rejected(FeedRejection(location: error.path, reason: error.reason))]
        }
    }
}
