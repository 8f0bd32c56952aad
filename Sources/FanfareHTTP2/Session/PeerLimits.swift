/// Limits that the peer sets: the protocol's defaults until its SETTINGS arrive (RFC 9113 §6.5.2).
struct PeerLimits {
    /// `true` once the peer's first SETTINGS have arrived.
    private(set) var areKnown = false
    private(set) var streamsMax = Int.max
    /// Window of a new stream, in bytes.
    private(set) var streamWindow = FlowControl.defaultWindow
    private(set) var frameSizeMax = FlowControl.defaultFrameSize
    /// Bytes that the window of the connection lets out. Never negative: only open streams lose a part of their windows.
    var connectionWindow = FlowControl.defaultWindow

    /// Largest body that a new stream sends at once, as one frame.
    var wholeBodyMax: Int { min(frameSizeMax, connectionWindow, streamWindow) }

    /// Takes one value of SETTINGS. Unknown settings are ignored, as RFC 9113 requires, and so is MAX_HEADER_LIST_SIZE, which is
    /// advisory (§6.5.2): a peer that enforces it answers the request with an error, and our lists are a tenth of the usual limits.
    mutating func apply(setting: UInt16, value: UInt32) throws(ConnectionError) {
        switch setting {
        case SettingID.enablePush:
            guard value == 0 else {
                throw ConnectionError(code: .protocolError, text: "a server enables push: ENABLE_PUSH \(value)")
            }
        case SettingID.maxConcurrentStreams:
            streamsMax = Int(value)
        case SettingID.initialWindowSize:
            guard value <= FlowControl.windowMax else {
                throw ConnectionError(code: .flowControlError, text: "initial window of \(value) bytes")
            }
            streamWindow = Int(value)
        case SettingID.maxFrameSize:
            guard FlowControl.defaultFrameSize...FlowControl.frameSizeMax ~= Int(value) else {
                throw ConnectionError(code: .protocolError, text: "maximum frame size of \(value) bytes")
            }
            frameSizeMax = Int(value)
        default:
            break
        }
    }

    /// Called after the last value of a SETTINGS frame.
    mutating func settingsArrived() { areKnown = true }

    /// Takes a WINDOW_UPDATE of the connection.
    mutating func widenConnection(by increment: Int) throws(ConnectionError) {
        guard increment > 0 else {
            throw ConnectionError(code: .protocolError, text: "WINDOW_UPDATE of 0 bytes")
        }
        connectionWindow += increment
        guard connectionWindow <= FlowControl.windowMax else {
            throw ConnectionError(
                code: .flowControlError, text: "WINDOW_UPDATE of \(increment) bytes overflows the window")
        }
    }
}
