import FanfareModel

extension Topic {
    /// Writes everything that later decisions of the topic depend on.
    ///
    /// - Returns: `false` if the topic's reducer has no serial form.
    func write(to writer: inout SerialWriter) -> Bool {
        writer.write(birth)
        guard fold.write(to: &writer) else { return false }
        arrivals.write(to: &writer)
        shown.write(to: &writer, beside: fold.state)
        agenda.write(to: &writer)
        orders.write(to: &writer)
        governor.write(to: &writer)
        writer.write(newest) { writer, newest in
            // A shown state is encoded again, by the rules of that time: values that they hide are never sent.
            writer.write(newest, isShown: shown.state != nil && shown.version == newest.version)
        }
        writer.write(isNewestWithheld)
        return true
    }

    /// - Parameters:
    ///   - place: place that the topic gets in the core's table.
    ///   - isAsShown: is set to `false` if people see another build's state of the same memory.
    ///   - rules: returns the rules of a kind, or of topics whose kind is not known.
    init(
        reading reader: inout SerialReader, place: Int, isAsShown: inout Bool, rules: (TopicKind?) -> KindRules
    ) throws(SerialError) {
        birth = try reader.unsigned()
        fold = try Fold(reading: &reader, rules: rules)
        arrivals = try Arrivals(reading: &reader)
        shown = try Shown(reading: &reader, beside: fold.state, isAsWritten: &isAsShown)
        agenda = try Agenda(reading: &reader)
        orders = try TopicOrders(reading: &reader)
        governor = try AlertGovernor(reading: &reader)
        let number = TopicNumber(place: UInt32(place), birth: birth)
        let presented = shown.state.map { fold.present($0) }
        newest = try reader.optional { [id] (reader) throws(SerialError) in
            try reader.publication(of: id, number, shown: presented)
        }
        isNewestWithheld = try reader.flag("newest publication")
        scheduleNewest()
    }
}

extension SerialWriter {
    /// Writes a publication without its alert.
    ///
    /// - Parameter isShown: `true` if its state is the one that its topic shows, which is not written again.
    fileprivate mutating func write(_ publication: Publication, isShown: Bool) {
        write(publication.serial)
        write(publication.topicKind.rawValue)
        write(UInt64(publication.version))
        write(publication.event == .end)
        write(byte: publication.priority.rawValue)
        write(publication.relevance) { $0.write(signed: Int64($1)) }
        write(publication.prominence.hasBegun)
        write(signed: Int64(publication.prominence.importance))
        write(publication.prominence.occasionWeight) { $0.write(signed: Int64($1)) }
        write(signed: Int64(publication.stateSizeMax.bytes))
        write(publication.staleAfter) { $0.write(signed: $1.milliseconds) }
        write(publication.dismissal) { $0.write(signed: $1.number) }
        write(publication.freesID)
        write(publication.expiry.renews)
        write(signed: publication.expiry.dismissal.number)
        write(publication.isRepublished)
        write(isShown)
        guard !isShown else { return }
        let state = publication.state
        write(bytes: state.bytes)
        for place in [state.highlight, state.deepLink] {
            write(place) { writer, place in
                writer.write(UInt64(place.lowerBound))
                writer.write(UInt64(place.upperBound))
            }
        }
        write(UInt64(state.highlightSizeMax.bytes))
        let short = publication.short
        for text in [short.compactLeading, short.compactTrailing, short.minimal] { write(text) }
    }
}

extension SerialReader {
    /// - Parameter shown: the topic's shown state; `nil` if it shows nothing.
    fileprivate mutating func publication(
        of topic: TopicID, _ number: TopicNumber, shown: VisibleState?
    ) throws(SerialError) -> Publication {
        let serial = try unsigned()
        let kind = TopicKind(try text())
        guard let version = UInt32(exactly: try unsigned()) else { throw .malformed("version") }
        let isEnd = try flag("end")
        guard let priority = Priority(rawValue: try byte()) else { throw .malformed("priority") }
        let relevance = try optional { (reader) throws(SerialError) in Int(try reader.signed()) }
        let prominence = Prominence(
            hasBegun: try flag("beginning"), importance: Int(try signed()),
            occasionWeight: try optional { (reader) throws(SerialError) in Int(try reader.signed()) })
        let stateSizeMax = ByteCount.bytes(Int(try signed()))
        let staleAfter = try optional { (reader) throws(SerialError) in Duration.milliseconds(try reader.signed()) }
        let dismissal = try optional { (reader) throws(SerialError) in DismissalTime(number: try reader.signed()) }
        let freesID = try flag("id")
        let expiry = Expiry(renews: try flag("renewal"), dismissal: DismissalTime(number: try signed()))
        let isRepublished = try flag("republication")
        let (state, short) = try shownState(shown)
        return Publication(
            serial: serial, topicID: topic, topic: number, topicKind: kind, version: version,
            event: isEnd ? .end : .update, state: state, priority: priority, alert: nil, relevance: relevance,
            prominence: prominence, shortForms: short, stateSizeMax: stateSizeMax, staleAfter: staleAfter,
            dismissal: dismissal, freesID: freesID, expiry: expiry, isRepublished: isRepublished)
    }
    private mutating func shownState(_ shown: VisibleState?) throws(SerialError) -> (EncodedState, ShortFormsSource) {
        if try flag("state") {
            guard let shown else { throw .malformed("state") }
            return (shown.encoded, shown.short)
        }
        let bytes = try bytes()
        let state = EncodedState(
            encoded: bytes, highlight: try place(), deepLink: try place(),
            highlightSizeMax: .bytes(Int(clamping: try unsigned())))
        guard let state else { throw .malformed("state") }
        let short = ShortForms(compactLeading: try text(), compactTrailing: try text(), minimal: try text())
        return (state, .made(short))
    }

    private mutating func place() throws(SerialError) -> Range<Int>? {
        try optional { (reader) throws(SerialError) in
            let (start, end) = (Int(clamping: try reader.unsigned()), Int(clamping: try reader.unsigned()))
            guard start <= end else { throw .malformed("place") }
            return start..<end
        }
    }
}
