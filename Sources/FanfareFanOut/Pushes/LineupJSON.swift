package import FanfareModel

/// Makes the JSON of a lineup's content state, which `LineupContentState` of the module `FanfareLineup` describes for apps: one object
/// joined from bytes that were encoded when its topics were published. It decides nothing but what is left out for lack of room;
/// `Rotation` decides which topic has the spotlight.
package enum LineupJSON {
    /// Published versions of topics, and the one in the spotlight.
    package struct Display {
        /// Topics that have something to show, in the order of their rows.
        package var topics: [LineupTopic]
        /// Index into `topics`.
        package var spotlight: Int

        package init(topics: [LineupTopic] = [], spotlight: Int = 0) {
            self.topics = topics
            self.spotlight = spotlight
        }

        /// Calls a function with the display's topics, whose references it does not count: the array keeps them.
        @inline(__always)
        fileprivate func withShown<Result>(_ body: (Shown) -> Result) -> Result {
            unsafe topics.withUnsafeBufferPointer { topics in
                unsafe topics.withMemoryRebound(to: Unmanaged<LineupTopic>.self) {
                    unsafe body(Shown(topics: $0, spotlight: spotlight))
                }
            }
        }

        /// Hash of the visible content; topics that find no room do not affect it.
        var hash: UInt64 { unsafe withShown(unsafe \.hash) }

        /// The hash of a display that does not fit.
        fileprivate var fittingHash: UInt64 {
            let fitting = Fitting(self, highlighting: nil)
            var hash = fitting.spotlight.map { UInt64($0) ^ topics[spotlight].displayHash } ?? 0
            hash ^= fitting.parts.link.isEmpty ? 0 : 1 << 32
            hash ^= fitting.parts.highlight.isEmpty ? 0 : 1 << 33
            for index in fitting.shown { hash = hash.mixed &+ topics[index].row.hash }
            // No display that fits has this hash.
            return hash.mixed &+ UInt64(1 + topics.count - fitting.shown.count)
        }
    }

    /// A display whose topics another owner keeps. A lineup reads its topics several times for each push, and counting their references would take as
    /// long as the rest.
    @unsafe struct Shown {
        let topics: UnsafeBufferPointer<Unmanaged<LineupTopic>>
        /// Index into `topics`.
        let spotlight: Int

        /// The topic in the spotlight.
        var spotlightTopic: LineupTopic { unsafe topics[spotlight].takeUnretainedValue() }

        /// `Display.hash`.
        var hash: UInt64 {
            guard unsafe !topics.isEmpty else { return 0 }
            var (bytes, displayHash) = unsafe topics[spotlight]._withUnsafeGuaranteedRef {
                ($0.frameBytesMax, $0.displayHash)
            }
            var limit = Int.max
            var hash = unsafe UInt64(spotlight) ^ displayHash
            for index in unsafe topics.indices {
                let topic = unsafe topics[index]
                unsafe topic._withUnsafeGuaranteedRef {
                    limit = min(limit, $0.stateBytesMax)
                    bytes += $0.rowBytes + 1
                    hash = hash.mixed &+ $0.rowHash
                }
            }
            return unsafe bytes <= limit ? hash.mixed : counted.fittingHash
        }

        /// Bytes of the state, with the greatest numbers; `nil` if a topic has to be left out.
        var fittingBytes: Int? {
            var bytes = unsafe topics[spotlight]._withUnsafeGuaranteedRef(\.frameBytesMax)
            var limit = Int.max
            for index in unsafe topics.indices {
                let topic = unsafe topics[index]
                unsafe topic._withUnsafeGuaranteedRef {
                    limit = min(limit, $0.stateBytesMax)
                    bytes += $0.rowBytes + 1
                }
            }
            return bytes <= limit ? bytes : nil
        }

        fileprivate var counted: Display {
            unsafe Display(topics: topics.map { unsafe $0.takeUnretainedValue() }, spotlight: spotlight)
        }

        /// `LineupJSON.compose`.
        func compose(highlighting highlighted: String?, into bytes: inout [UInt8]) {
            let isOwn =
                unsafe highlighted == nil
                || topics[spotlight]._withUnsafeGuaranteedRef { $0.highlightedKey == highlighted }
            guard isOwn, let capacity = unsafe fittingBytes else {
                return unsafe LineupJSON.composeFitting(counted, highlighting: highlighted, into: &bytes)
            }
            bytes.removeAll(keepingCapacity: true)
            unsafe append(capacity: capacity, to: &bytes)
        }

        /// Appends the state of a display that fits.
        ///
        /// - Parameter capacity: `fittingBytes`.
        @inline(__always)
        func append(capacity: Int, to bytes: inout [UInt8]) {
            unsafe topics[spotlight]._withUnsafeGuaranteedRef {
                unsafe $0.frame.join(topics, spotlight: spotlight, capacity: capacity, into: &bytes)
            }
        }
    }

    /// - Parameter display: at least one topic.
    /// - Parameter highlighted: the key that the alert on board is about.
    /// - Parameter bytes: receives the state in place of its present content; its memory is reused.
    package static func compose(
        _ display: Display, highlighting highlighted: String? = nil, into bytes: inout [UInt8]
    ) {
        unsafe display.withShown { unsafe $0.compose(highlighting: highlighted, into: &bytes) }
    }

    /// Composes a display with another alert's highlight, or one that may not fit.
    private static func composeFitting(
        _ display: Display, highlighting highlighted: String?, into bytes: inout [UInt8]
    ) {
        bytes.removeAll(keepingCapacity: true)
        let fitting = Fitting(display, highlighting: highlighted)
        let frame = fitting.parts.frame(more: display.topics.count - fitting.shown.count)
        let shown = Display(topics: fitting.shown.map { display.topics[$0] })
        let capacity = shown.topics.reduce(frame.bytesMax) { $0 + $1.rowBytes + 1 }
        unsafe shown.withShown {
            unsafe frame.join($0.topics, spotlight: fitting.spotlight, capacity: capacity, into: &bytes)
        }
    }

    /// The part of a display that finds room. Other topics than the spotlight are left out first: those that are over, then those not
    /// begun, then the last rows. The link and the highlight follow; the state itself contains both, too. A spotlight
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
            let topic = display.topics[display.spotlight]
            parts = EncodedFrame.Parts(topic.publication.state, topic.row, highlighting: highlighted)
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

/// A topic's version as lineups show it, encoded once in each shard that has a lineup of the topic. Confined to that shard's thread.
package final class LineupTopic {
    let publication: Publication
    /// Number of the filling of the last batch that has kept a reference (`JoinedPayloads`).
    // Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) var keeper: UInt64 = 0
    /// The topic's row, shown with or without the spotlight.
    let row: EncodedRow
    /// The state's frame around the rows while the topic has the spotlight.
    let frame: EncodedFrame
    // Copies, because each lineup of the topic reads them.
    let displayHash: UInt64
    let stateBytesMax: Int
    let rowHash: UInt64
    let rowBytes: Int
    let frameBytesMax: Int
    /// The key that the state highlights.
    let highlightedKey: String?

    package init(_ publication: Publication) {
        self.publication = publication
        row = EncodedRow(publication.topicID, publication.topicKind, publication.short)
        frame = EncodedFrame(publication.state, row)
        displayHash = publication.displayHash
        stateBytesMax = publication.stateSizeMax.bytes
        rowHash = row.hash
        rowBytes = row.bytes.count
        frameBytesMax = frame.bytesMax
        highlightedKey = publication.state.highlightedKey
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

    /// - Parameters:
    ///   - spotlight: index into the topics; `nil` if the spotlight found no room.
    ///   - capacity: upper bound on the state's bytes: one check for capacity, and appending the pieces then needs none.
    func join(
        _ topics: UnsafeBufferPointer<Unmanaged<LineupTopic>>, spotlight: Int?, capacity: Int, into bytes: inout [UInt8]
    ) {
        bytes.append(addingCapacity: capacity) { output in
            output.append(opening)
            if let spotlight { output.append(count: spotlight) }
            output.append(closing)
            var isFirst = true
            for index in topics.indices {
                let topic = unsafe topics[index]
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                unsafe topic._withUnsafeGuaranteedRef { output.append($0.row.bytes) }
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

        init(_ state: EncodedState, _ row: EncodedRow, highlighting key: String? = nil) {
            var bytes = state.bytes
            var highlight = state.highlight.map { state.bytes[$0] } ?? []
            // A state that highlights nothing has no room for a highlight, and the alert is about an earlier state.
            if let key, state.highlight != nil, key != state.highlightedKey {
                bytes = state.highlighting(key)
                var value: [UInt8] = []
                JSONValue.write(key, to: &value)
                highlight = value[...]
            }
            self.highlight = highlight
            highlightRoom = state.highlight == nil ? 0 : max(0, state.highlightSizeMax.bytes - highlight.count)
            link = state.deepLink.map { state.bytes[$0] } ?? []
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
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeMutableBufferPointer { room, count in
                _ = unsafe UnsafeMutableBufferPointer(rebasing: room[count...]).update(fromContentsOf: bytes)
                count += bytes.count
            }
        }
    }
}
