extension ClientSession {
    /// Our side of the bargain. Memory of one session, at most: `streamsMax` × (`bodyMax` + about 450 bytes), two header
    /// tables of three times their size, `headerListMax` × 3, one frame of 16 KB, and the requests in the output.
    package struct Configuration: Sendable {
        /// Requests in flight at most, whatever the peer allows. 1...16,384.
        package var streamsMax = 1000
        /// Bytes of an answer's body that are kept. APNs' reasons are below 100 bytes.
        package var bodyMax = 4096
        /// Greatest header list we accept, by RFC 7541's count.
        package var headerListMax = 16_384
        /// Our SETTINGS_HEADER_TABLE_SIZE. 0...65,536.
        package var decoderTableSize = HPACK.defaultTableSize
        /// The table we use for requests, if the peer allows as much. APNs keeps a small one (spec §2.3). 0...65,536.
        package var encoderTableSize = HPACK.defaultTableSize
        /// Bytes of answers on their way to us, on all streams together. At least 65,535, which nobody can go below.
        package var receiveWindow = 1 << 20
        /// Where stream IDs begin; tests start near their end.
        var firstStream: UInt32 = 1

        package init() {}

        func check() {
            precondition(1...16_384 ~= streamsMax && 0...(1 << 20) ~= bodyMax)
            precondition(1024...(1 << 20) ~= headerListMax)
            precondition(0...65_536 ~= decoderTableSize && 0...65_536 ~= encoderTableSize)
            precondition(FlowControl.defaultWindow...FlowControl.windowMax ~= receiveWindow)
            precondition(firstStream % 2 == 1 && firstStream <= StreamID.max)
        }
    }

    /// CONTINUATION frames of one header block. A block of `headerListMax` needs two.
    static let continuationsMax = 32
    /// Answers to PING and SETTINGS that wait in the output while the peer reads nothing.
    static let repliesQueuedMax = 1000
    /// Frames that change nothing (PING, PRIORITY, empty DATA, unknown types, closed streams) between two answers. An idle
    /// connection that is pinged every minute lives for a week.
    static let idleFramesMax = 10_000
    /// Bytes of GOAWAY's debug data that are kept.
    package static let debugTextMax = 1024
}
