import FanfareFanOut
import FanfareModel

extension Engine.Command {
    /// Hash of the caller's arguments, without the time at which the command is handed in, and without the token of a start, which the system
    /// replaces at any time. It is compared with hashes in a store, so another release must make the same one.
    var content: UInt64 {
        var writer = SerialWriter()
        switch body {
        case .event(let event):
            writer.write(byte: 0)
            writer.write(event)
        case .happening(let make):
            writer.write(byte: 1)
            writer.write(make(FeedTime(milliseconds: 0)))
        case .card(.start(let request, let audience), let subscriber):
            writer.write(byte: 2)
            writer.write(subscriber.rawValue)
            writer.write(subscriber.app) { $0.write($1) }
            writer.write(audience)
            writer.write(request)
        // These commands have no key.
        case .follow, .card, .confirmDeadTokens, .refused: break
        }
        return writer.bytes.fnv1a
    }
}

extension SerialWriter {
    fileprivate mutating func write(_ request: StartRequest) {
        write(request.activity)
        write(request.attributesType)
        write(request.attributes)
        write(request.activityKey)
        write(request.alert)
    }

    fileprivate mutating func write(_ audience: AudienceKey) {
        switch audience {
        case .topic(let topic):
            write(false)
            write(topic.rawValue)
        case .lineup(let topics, let favourite):
            write(true)
            write(all: topics) { $0.write($1.rawValue) }
            write(favourite) { $0.write($1.rawValue) }
        }
    }
}
