import FanfareModel
import FanfareReplay

/// Parts of a feed that no phone shows: events that could not be read or were rejected, and the decoders' doubts.
final class UnseenEvents {
    var rejections = FeedRejections()
    var notices: [String] = []
    /// Number of events that could be read.
    var events = 0

    /// Lines for people.
    var lines: [String] {
        var lines = notices
        lines += rejections.first.map { record in
            // The reason names file and line.
            record.kind == "unreadable"
                ? record.reason
                : "\(record.now)  \(record.topic?.rawValue ?? "")  \(record.kind): rejected: \(record.reason)"
        }
        let more = rejections.count - rejections.first.count
        if more > 0 { lines.append("and \(more.grouped) more that could not be read or were rejected") }
        return lines.map { Console.quoted($0) }
    }

    /// Report for a check; `nil` if there are none.
    var finding: String? {
        switch rejections.count {
        case 0: nil
        case 1: "feed: an event could not be read or was rejected, so it was not checked; standard error names it"
        default:
            "feed: \(rejections.count.grouped) events could not be read or were rejected, so they were not checked; "
                + "standard error names them"
        }
    }

    /// Reason why a check has seen no update.
    var reason: String {
        if rejections.count > 0 { return "nothing of the feed could be read, or all of it was rejected" }
        return events == 0 ? "no event of the feed could be found; --format may be another's" : "nothing was sent"
    }
}
