import FanfareDecisions
import FanfareFanOut
import FanfareModel

@testable import Fanfare

/// Keeps the reports of a core, for tests that have no other delegate.
final class CoreRecorder: EngineCoreDelegate {
    private let core: EngineCore
    private(set) var records: [DecisionRecord] = []
    private(set) var completed: [UInt64] = []
    private(set) var reports: [String] = []
    private(set) var isReady = false
    private(set) var reliefs = 0
    /// Called when every shard is ready, and with each relief.
    var onChange: () -> Void = {}

    init(_ core: EngineCore) {
        self.core = core
        core.delegate = self
    }

    deinit { core.delegate = nil }

    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) { records.append(record) }
    func coreDidComplete(_ serial: UInt64, of topic: TopicID, at moment: MonotonicTime?) { completed.append(serial) }
    func coreDidReport(_ line: String) { reports.append(line) }

    func coreDidBecomeReady() {
        isReady = true
        onChange()
    }

    func coreDidRelieve() {
        reliefs += 1
        onChange()
    }
}
