import FanfareLog

/// Reason why an engine could not be created.
public struct EngineFault: Error, Sendable, CustomStringConvertible {
    /// Error of the system, the key file or the source of subscribers, or a `StoreFault`; `nil` if the options are invalid.
    public let underlying: (any Error)?
    /// Text for people in one line: the given option and its bounds, or the system's message.
    public let description: String

    init(_ error: any Error) {
        let isOfOptions = error is OptionsFault
        underlying = isOfOptions ? nil : (error as? LogError).map(StoreFault.init) ?? error
        description = "\(error)"
    }
}
