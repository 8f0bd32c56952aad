package import FanfareModel

/// The content state of a lineup, which `LineupContentState` of the module `FanfareLineup` describes for apps: one JSON object
/// joined from bytes that were encoded when its topics were published.
package enum LineupState {
    /// Published versions of topics, and the one in the spotlight.
    package struct Display {
        /// Topics that have something to show, in the person's own order.
        package var topics: [LineupTopic]
        /// Index into `topics`.
        package var spotlight: Int

        package init(topics: [LineupTopic] = [], spotlight: Int = 0) {
            self.topics = topics
            self.spotlight = spotlight
        }

        /// Hash of the visible content; topics that find no room do not affect it.
        var hash: UInt64 {
            guard !topics.isEmpty else { return 0 }
            if fits {
                var hash = UInt64(spotlight) ^ topics[spotlight].display
                topics.forEachUncounted { hash = hash.mixed &+ $0.row.hash }
                return hash.mixed
            }
            let fitting = Fitting(self, highlighting: nil)
            var hash = fitting.spotlight.map { UInt64($0) ^ topics[spotlight].display } ?? 0
            hash ^= fitting.parts.link.isEmpty ? 0 : 1 << 32
            hash ^= fitting.parts.highlight.isEmpty ? 0 : 1 << 33
            for index in fitting.shown { hash = hash.mixed &+ topics[index].row.hash }
            // No display that fits has this hash.
            return hash.mixed &+ UInt64(1 + topics.count - fitting.shown.count)
        }

        /// Is `true` when no topic has to be left out: nearly always.
        fileprivate var fits: Bool {
            var limit = Int.max
            var bytes = topics[spotlight].frame.bytesMax
            topics.forEachUncounted {
                limit = min(limit, $0.stateBytesMax)
                bytes += $0.row.bytes.count + 1
            }
            return bytes <= limit
        }
    }

    /// - Parameter display: at least one topic.
    /// - Parameter highlighted: the key that the alert on board is about.
    /// - Parameter bytes: receives the state in place of its present content; its memory is reused.
    package static func compose(
        _ display: Display, highlighting highlighted: String? = nil, into bytes: inout [UInt8]
    ) {
        bytes.removeAll(keepingCapacity: true)
        let lit = display.topics[display.spotlight]
        if display.fits, highlighted == nil || highlighted == lit.publication.state.highlightedKey {
            return lit.frame.join(display.topics, spotlight: display.spotlight, into: &bytes)
        }
        let fitting = Fitting(display, highlighting: highlighted)
        fitting.parts.frame(more: display.topics.count - fitting.shown.count)
            .join(fitting.shown.map { display.topics[$0] }, spotlight: fitting.spotlight, into: &bytes)
    }

    /// The part of a display that finds room. Other topics than the spotlight are left out first: those that are over, then those not
    /// begun, then the last of the person's order. The link and the highlight follow; the state itself contains both, too. A spotlight
    /// that does not fit beside its own row is left out completely.
    private struct Fitting {
        var parts: EncodedFrame.Parts
        /// Indices of the topics whose rows are shown.
        private(set) var shown: [Int]
        /// Index into `shown`.
        private(set) var spotlight: Int?
        private var rows: Int
        private var bytesMax: Int { parts.bytesMax + rows }

        init(_ display: Display, highlighting highlighted: String?) {
            let lit = display.topics[display.spotlight]
            parts = EncodedFrame.Parts(lit.publication.state, lit.row, highlighting: highlighted)
            shown = Array(display.topics.indices)
            spotlight = display.spotlight
            rows = display.topics.reduce(0) { $0 + $1.row.bytes.count + 1 }
            let limit = display.topics.reduce(Int.max) { min($0, $1.stateBytesMax) }
            if bytesMax > limit { leaveOut(of: display, limit: limit) }
        }

        private mutating func leaveOut(of display: Display, limit: Int) {
            let byImportance = display.topics.indices.sorted {
                (display.topics[$0].publication.leavesFirst, -$0) < (display.topics[$1].publication.leavesFirst, -$1)
            }
            leaveOut(byImportance.filter { $0 != display.spotlight }, of: display, limit: limit)
            if bytesMax > limit { parts.link = [] }
            if bytesMax > limit { parts.highlight = [] }
            if bytesMax > limit {
                parts.spotlight = nil
                shown = Array(display.topics.indices)
                rows = display.topics.reduce(0) { $0 + $1.row.bytes.count + 1 }
                leaveOut(byImportance, of: display, limit: limit)
            }
            spotlight = parts.spotlight.flatMap { _ in shown.firstIndex(of: display.spotlight) }
        }

        private mutating func leaveOut(_ candidates: [Int], of display: Display, limit: Int) {
            for candidate in candidates where bytesMax > limit {
                shown.removeAll { $0 == candidate }
                rows -= display.topics[candidate].row.bytes.count + 1
            }
        }
    }
}

/// A topic's version as lineups show it, encoded once in each shard that has a lineup of the topic.
package final class LineupTopic: Sendable {
    let publication: Publication
    /// The topic's row, shown with or without the spotlight.
    let row: EncodedRow
    /// The state's frame around the rows while the topic has the spotlight.
    let frame: EncodedFrame
    // Copied from the publication, because each lineup of the topic reads both.
    let display: UInt64
    let stateBytesMax: Int

    package init(_ publication: Publication) {
        self.publication = publication
        row = EncodedRow(publication.topicID, publication.topicKind, publication.short)
        frame = EncodedFrame(publication.state, row)
        display = publication.display
        stateBytesMax = publication.stateBytesMax
    }
}

/// One member of a lineup's `topics`, as JSON.
struct EncodedRow: Sendable {
    let bytes: [UInt8]
    /// Range of `"kind":` and its value, which the spotlight repeats.
    let kind: Range<Int>
    let hash: UInt64

    /// Capacity for most rows: 67 bytes of keys, forms of at most 8 bytes, an id of 20.
    private static let bytesUsual = 128

    init(_ id: TopicID, _ kind: TopicKind, _ short: ShortForms) {
        var bytes: [UInt8] = []
        func append(_ key: String, _ value: String) -> Range<Int> {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
            let start = bytes.count
            JSONValue.write(key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONValue.write(value, to: &bytes)
            return start..<bytes.count
        }
        bytes.reserveCapacity(EncodedRow.bytesUsual)
        _ = append("compactLeading", short.compactLeading)
        _ = append("compactTrailing", short.compactTrailing)
        _ = append("id", id.rawValue)
        self.kind = append("kind", kind.rawValue)
        _ = append("minimal", short.minimal)
        bytes.append(UInt8(ascii: "}"))
        self.bytes = bytes
        hash = bytes.keyedHash
    }
}

/// The part of a lineup's state that the spotlight's version determines: everything but the rows and the spotlight's index.
struct EncodedFrame: Sendable {
    private let opening: [UInt8]
    private let closing: [UInt8]
    /// Bytes of the frame, with the greatest numbers.
    let bytesMax: Int

    /// Creates the frame of a state in which no topic is left out.
    init(_ state: EncodedState, _ row: EncodedRow) { self = Parts(state, row).frame(more: 0) }

    private init(opening: [UInt8], closing: [UInt8], bytesMax: Int) {
        (self.opening, self.closing, self.bytesMax) = (opening, closing, bytesMax)
    }

    /// - Parameter spotlight: index into the topics; `nil` if the spotlight found no room.
    func join(_ topics: [LineupTopic], spotlight: Int?, into bytes: inout [UInt8]) {
        // One check for capacity; appending the pieces then needs none.
        var capacity = bytesMax
        topics.forEachUncounted { capacity += $0.row.bytes.count + 1 }
        bytes.append(addingCapacity: capacity) { output in
            output.append(opening)
            if let spotlight { output.append(count: spotlight) }
            output.append(closing)
            var isFirst = true
            topics.forEachUncounted {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                output.append($0.row.bytes)
            }
            output.append(UInt8(ascii: "]"))
            output.append(UInt8(ascii: "}"))
        }
    }

    struct Parts {
        struct Spotlight {
            /// `"kind":` and its value.
            let kind: ArraySlice<UInt8>
            let state: [UInt8]
        }

        /// The highlight and the link, as JSON values; empty if the state has none.
        var highlight: ArraySlice<UInt8>
        var link: ArraySlice<UInt8>
        var spotlight: Spotlight?
        /// Bytes by which another alert's highlight may be longer.
        private let highlightRoom: Int

        init(_ lit: EncodedState, _ row: EncodedRow, highlighting key: String? = nil) {
            var bytes = lit.bytes
            var highlight = lit.highlight.map { lit.bytes[$0] } ?? []
            // A state that highlights nothing has no room for it, and the alert is about an earlier state.
            if let key, lit.highlight != nil, key != lit.highlightedKey {
                bytes = lit.highlighting(key)
                var value: [UInt8] = []
                JSONValue.write(key, to: &value)
                highlight = value[...]
            }
            self.highlight = highlight
            highlightRoom = lit.highlight == nil ? 0 : max(0, lit.highlightMax - highlight.count)
            link = lit.deepLink.map { lit.bytes[$0] } ?? []
            spotlight = Spotlight(kind: row.bytes[row.kind], state: bytes)
        }

        /// Bytes without rows, with the greatest numbers and the longest highlight: a version shows the same to everybody, whatever alert
        /// comes with it.
        var bytesMax: Int {
            var count = #"{"more":64,"topics":[]}"#.utf8.count
            if !highlight.isEmpty { count += #""highlight":,"#.utf8.count + highlight.count + highlightRoom }
            if !link.isEmpty { count += #""link":,"#.utf8.count + link.count }
            if let spotlight {
                count +=
                    #","spotlight":{"index":64,,"state":}"#.utf8.count + spotlight.kind.count + spotlight.state.count
                    + highlightRoom
            }
            return count
        }

        /// - Parameter more: number of topics that are left out.
        func frame(more: Int) -> EncodedFrame {
            var opening = [UInt8(ascii: "{")]
            if !highlight.isEmpty {
                opening.append(contentsOf: #""highlight":"#.utf8)
                opening.append(contentsOf: highlight)
                opening.append(UInt8(ascii: ","))
            }
            if !link.isEmpty {
                opening.append(contentsOf: #""link":"#.utf8)
                opening.append(contentsOf: link)
                opening.append(UInt8(ascii: ","))
            }
            // An absent number means that no topic is left out.
            if more > 0 {
                opening.append(contentsOf: #""more":"#.utf8)
                opening.append(count: more)
                opening.append(UInt8(ascii: ","))
            }
            var closing: [UInt8] = []
            if let spotlight {
                opening.append(contentsOf: #""spotlight":{"index":"#.utf8)
                closing.append(UInt8(ascii: ","))
                closing.append(contentsOf: spotlight.kind)
                closing.append(contentsOf: #","state":"#.utf8)
                closing.append(contentsOf: spotlight.state)
                closing.append(contentsOf: "},".utf8)
            }
            closing.append(contentsOf: #""topics":["#.utf8)
            return EncodedFrame(opening: opening, closing: closing, bytesMax: bytesMax)
        }
    }
}

extension Publication {
    /// Order in which topics are left out if room is short: first those that are over, then those not begun, then live ones.
    fileprivate var leavesFirst: Int { event == .end ? 0 : prominence.hasBegun ? 2 : 1 }
}

extension [LineupTopic] {
    /// Calls a function with each topic, whose references it does not count: the array keeps them. A lineup reads its topics several times for
    /// each push, and counting would take as long as the rest.
    @inline(__always)
    fileprivate func forEachUncounted(_ body: (LineupTopic) -> Void) {
        withUnsafeBufferPointer { topics in
            topics.withMemoryRebound(to: Unmanaged<LineupTopic>.self) { topics in
                for topic in topics { topic._withUnsafeGuaranteedRef(body) }
            }
        }
    }
}

extension [UInt8] {
    /// Appends a number of at most two digits; a lineup has at most 64 topics.
    fileprivate mutating func append(count: Int) {
        append(addingCapacity: 2) { $0.append(count: count) }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(count: Int) {
        if count > 9 { append(UInt8(ascii: "0") + UInt8(count / 10)) }
        append(UInt8(ascii: "0") + UInt8(count % 10))
    }

    @inline(__always)
    fileprivate mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            withUnsafeMutableBufferPointer { room, count in
                _ = UnsafeMutableBufferPointer(rebasing: room[count...]).update(fromContentsOf: bytes)
                count += bytes.count
            }
        }
    }
}
