/// Limits of our side of a session. One session uses at most `streamsMax` × (`bodyMax` + about 450 bytes), two header tables of three
/// times their size, `headerListMax` × 3, one frame of 16 KB, and the requests in the output.
package struct SessionConfiguration: Sendable {
    /// Maximum number of requests in flight, even if the peer allows more. 1...16,384.
    package var streamsMax = 1000
    /// Bytes of an answer's body that are kept. APNs' reasons are shorter than 100 bytes.
    package var bodyMax = 4096
    /// Largest header list that is accepted, in RFC 7541's count.
    package var headerListMax = 16_384
    /// Our SETTINGS_HEADER_TABLE_SIZE. 0...65,536.
    package var decoderTableSize = HPACK.defaultTableSize
    /// Size of the table that the encoder uses, if the peer allows it. APNs allows a small one (spec §2.3). 0...65,536.
    package var encoderTableSize = HPACK.defaultTableSize
    /// Receive window of the connection: bytes of answers on their way to us, on all streams together. At least 65,535,
    /// the protocol's minimum.
    package var receiveWindow = 1 << 20
    /// First stream ID; tests start near the last one.
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
