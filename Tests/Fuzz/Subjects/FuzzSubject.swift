import FanfareFeeds

/// Reader of bytes that nobody has checked: `make fuzz` makes them up, and an ordinary test replays those that were
/// worth keeping (`Tests/Fuzz/Corpus`, a folder per subject).
package enum FuzzSubject: String, CaseIterable, Sendable {
    case frames, hpack
    /// Beside nghttp2.
    case beside
    case errorBody = "error-body"
    case logEntry = "log-entry"
    case card, claims, checkpoint
    case changedCard = "changed-card"
    case coreRow = "core-row"
    case completionHead = "completion-head"
    case skippedEntries = "skipped-entries"
    case rules
    case native, wyscout, dfl, pwhl
    case dataVolley = "dvw"
    case gtfsRealtime = "gtfs-rt"

    /// Ends the process when a promise is broken that holds for all bytes. That alone is no fault found: what the bytes
    /// deserve, an error or a rejection, is of no interest here.
    package func run(_ bytes: [UInt8]) {
        switch self {
        case .frames: runFrames(bytes)
        case .hpack: runHPACK(bytes)
        case .beside:
            let text = Beside.disagreement(over: Beside.frames(bytes))
            promise(text == nil, text ?? "")
        case .errorBody: runErrorBody(bytes)
        case .logEntry: runLogEntry(bytes)
        case .card: runCard(bytes)
        case .claims: runClaims(bytes)
        case .checkpoint: runCheckpoint(bytes)
        case .changedCard: runChangedCard(bytes)
        case .coreRow: runCoreRow(bytes)
        case .completionHead: runCompletionHead(bytes)
        case .skippedEntries: runSkippedEntries(bytes)
        case .rules: runRules(bytes)
        case .native: runNative(bytes)
        case .wyscout: DocumentFuzzing.run(bytes, as: .wyscout)
        case .dfl: DocumentFuzzing.run(bytes, as: .dfl)
        case .pwhl: DocumentFuzzing.run(bytes, as: .pwhl)
        case .dataVolley: DocumentFuzzing.run(bytes, as: .dataVolley)
        case .gtfsRealtime: DocumentFuzzing.run(bytes, as: .gtfsRealtime)
        }
    }
}

extension FuzzSubject {
    /// Returns whether the bytes are read and not refused; `nil` for a subject that does not say.
    package func takes(_ bytes: [UInt8]) -> Bool? {
        switch self {
        case .card: runCard(bytes)
        case .claims: runClaims(bytes)
        case .checkpoint: runCheckpoint(bytes)
        case .changedCard: runChangedCard(bytes)
        case .coreRow: runCoreRow(bytes)
        case .completionHead: runCompletionHead(bytes)
        case .skippedEntries: runSkippedEntries(bytes)
        default: nil
        }
    }
}
