/// The content state of a lineup, which `LineupContentState` of the module `FanfareLineup` describes for apps: one JSON object
/// joined from bytes that were encoded when its topics were published.
package enum LineupState {
    /// Published versions of topics, and the one in the spotlight.
    package struct Display {
        /// In the person's own order; topics that have something to show.
        package var topics: [Publication]
        /// Index into `topics`.
        package var spotlight: Int

        package init(topics: [Publication] = [], spotlight: Int = 0) {
            self.topics = topics
            self.spotlight = spotlight
        }

        /// Of what people see: what finds no room makes no difference.
        var hash: UInt64 {
            guard !topics.isEmpty else { return 0 }
            let fitting = Fitting(self, highlighting: nil)
            var hash = fitting.parts.spotlight.map { UInt64($0.index) ^ topics[spotlight].display } ?? 0
            hash ^= fitting.parts.link.isEmpty ? 0 : 1 << 32
            hash ^= fitting.parts.highlight.isEmpty ? 0 : 1 << 33
            func add(_ topic: Publication) { hash = (hash.mixed &+ topic.row.hash) }
            if let shown = fitting.shown {
                for index in shown { add(topics[index]) }
                hash = hash.mixed &+ UInt64(topics.count - shown.count)
            } else {
                topics.forEach(add)
            }
            return hash.mixed
        }
    }

    /// - Parameter display: at least one topic.
    /// - Parameter highlighted: the key that the alert on board is about.
    package static func compose(_ display: Display, highlighting highlighted: String? = nil) -> [UInt8] {
        let fitting = Fitting(display, highlighting: highlighted)
        guard let shown = fitting.shown else {
            return fitting.parts.join(display.topics, more: 0, bytes: fitting.bytesMax)
        }
        return fitting.parts.join(
            shown.map { display.topics[$0] }, more: display.topics.count - shown.count, bytes: fitting.bytesMax)
    }

    /// What of a display finds room. What does not is left out: of the other topics those that are over first, then those not
    /// begun, then the last of the person's order; after them the link and the highlight, which the state itself has too. A
    /// spotlight that does not fit beside its own row is left out whole.
    private struct Fitting {
        var parts: Parts
        /// Indices of the topics whose rows are shown; `nil`: all.
        private(set) var shown: [Int]?
        private var rows = 0
        var bytesMax: Int { parts.bytesMax + rows }

        init(_ display: Display, highlighting highlighted: String?) {
            parts = Parts(display.topics[display.spotlight], index: display.spotlight, highlighting: highlighted)
            var limit = Int.max
            for topic in display.topics {
                limit = min(limit, topic.stateBytesMax)
                rows += topic.row.bytes.count + 1
            }
            if bytesMax > limit { leaveOut(of: display, limit: limit) }
        }

        private mutating func leaveOut(of display: Display, limit: Int) {
            let byImportance = display.topics.indices.sorted {
                (display.topics[$0].leavesFirst, -$0) < (display.topics[$1].leavesFirst, -$1)
            }
            shown = leaveOut(byImportance.filter { $0 != display.spotlight }, of: display, limit: limit)
            if bytesMax > limit { parts.link = [] }
            if bytesMax > limit { parts.highlight = [] }
            if bytesMax > limit {
                parts.spotlight = nil
                rows = display.topics.reduce(0) { $0 + $1.row.bytes.count + 1 }
                shown = leaveOut(byImportance, of: display, limit: limit)
            }
            parts.spotlight?.index = shown?.firstIndex(of: display.spotlight) ?? 0
        }

        /// - Returns: those that stay.
        private mutating func leaveOut(_ candidates: [Int], of display: Display, limit: Int) -> [Int] {
            var shown = Array(display.topics.indices)
            for candidate in candidates where bytesMax > limit {
                shown.removeAll { $0 == candidate }
                rows -= display.topics[candidate].row.bytes.count + 1
            }
            return shown
        }
    }

    /// All but the rows.
    private struct Parts {
        struct Spotlight {
            var index: Int
            /// `"kind":` and its value.
            let kind: ArraySlice<UInt8>
            let state: [UInt8]
        }

        /// Values, as JSON; empty when there is none.
        var highlight: ArraySlice<UInt8>
        var link: ArraySlice<UInt8>
        var spotlight: Spotlight?

        init(_ lit: Publication, index: Int, highlighting key: String?) {
            var bytes = lit.state.bytes
            var highlight = lit.state.highlight.map { lit.state.bytes[$0] } ?? []
            if let key, key != lit.state.highlightedKey {
                bytes = lit.state.highlighting(key)
                var value: [UInt8] = []
                JSONValue.write(key, to: &value)
                highlight = value[...]
            }
            self.highlight = highlight
            link = lit.state.deepLink.map { lit.state.bytes[$0] } ?? []
            spotlight = Spotlight(index: index, kind: lit.row.bytes[lit.row.kind], state: bytes)
        }

        /// Without rows, and with room for the greatest numbers.
        var bytesMax: Int {
            var count = #"{"more":64,"topics":[]}"#.utf8.count
            if !highlight.isEmpty { count += #""highlight":,"#.utf8.count + highlight.count }
            if !link.isEmpty { count += #""link":,"#.utf8.count + link.count }
            if let spotlight {
                count +=
                    #","spotlight":{"index":64,,"state":}"#.utf8.count + spotlight.kind.count + spotlight.state.count
            }
            return count
        }

        func join(_ topics: [Publication], more: Int, bytes capacity: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(capacity)
            bytes.append(UInt8(ascii: "{"))
            if !highlight.isEmpty {
                bytes.append(contentsOf: #""highlight":"#.utf8)
                bytes.append(contentsOf: highlight)
                bytes.append(UInt8(ascii: ","))
            }
            if !link.isEmpty {
                bytes.append(contentsOf: #""link":"#.utf8)
                bytes.append(contentsOf: link)
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(contentsOf: #""more":"#.utf8)
            bytes.append(count: more)
            if let spotlight {
                bytes.append(contentsOf: #","spotlight":{"index":"#.utf8)
                bytes.append(count: spotlight.index)
                bytes.append(UInt8(ascii: ","))
                bytes.append(contentsOf: spotlight.kind)
                bytes.append(contentsOf: #","state":"#.utf8)
                bytes.append(contentsOf: spotlight.state)
                bytes.append(UInt8(ascii: "}"))
            }
            bytes.append(contentsOf: #","topics":["#.utf8)
            for (index, topic) in topics.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(contentsOf: topic.row.bytes)
            }
            bytes.append(contentsOf: "]}".utf8)
            return bytes
        }
    }
}

extension Publication {
    /// Where room is short: what is over before what has not begun before what is live.
    fileprivate var leavesFirst: Int { event == .end ? 0 : prominence.hasBegun ? 2 : 1 }
}

extension [UInt8] {
    /// At most two digits: a lineup has at most 64 topics.
    fileprivate mutating func append(count: Int) {
        if count > 9 { append(UInt8(ascii: "0") + UInt8(count / 10)) }
        append(UInt8(ascii: "0") + UInt8(count % 10))
    }
}
