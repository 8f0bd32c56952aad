internal import FanfareModel
import Foundation
import Glibc
internal import PowerLossParts
internal import WriteRecorder

/// Losses of power, and what is read back after each of them. Children read, because LMDB may end a process at a bad page.
package struct Trials {
    struct Trial {
        let track: Int
        /// Number of events of the part that have happened.
        let cut: Int
        let remains: Disk.Remains
    }

    package struct Findings {
        package var trials = 0
        package var violations: [String] = []
        /// Number of them in each part of the store.
        package var counts: [String: Int] = [:]
    }

    private let recording: Recording
    private let trials: [Trial]
    private let scratch: String
    /// Trials of one child.
    private static let batch = 400
    /// Events in which a part of a store comes to be.
    private static let newEvents = 12
    private static let children = 2
    /// Time in which a store must be read.
    private static let secondsMax: UInt32 = 20

    /// - Parameters:
    ///   - every: a loss before every so many-th event, of which everything and nothing remains that was not synced.
    ///   - fault: what the store is to have left out.
    ///   - scratch: a folder for stores.
    package init(
        _ recording: Recording, every: Int, subsets: Int, seed: UInt64, fault: Fault? = nil, scratch: String
    ) {
        let recording = fault.map { recording.committing($0) } ?? recording
        var trials: [Trial] = []
        for (track, events) in recording.tracks.map(\.events.all).enumerated() {
            for cut in stride(from: 0, through: events.count, by: max(1, every)) {
                trials.append(Trial(track: track, cut: cut, remains: .nothing))
                trials.append(Trial(track: track, cut: cut, remains: .everything))
            }
        }
        var random = SplitMix64(seed: seed)
        for number in 0..<subsets {
            let track = Int.random(in: 0..<recording.tracks.count, using: &random)
            // One in ten finds a folder that is being made: that is a few events, and other rules.
            let last = recording.tracks[track].events.all.count
            let cut = Int.random(
                in: 0...(fault == .newSync || number.isMultiple(of: 10) ? min(last, Trials.newEvents) : last),
                using: &random)
            trials.append(Trial(track: track, cut: cut, remains: .some(random.next())))
        }
        self.recording = recording
        self.trials = trials.sorted { ($0.track, $0.cut) < ($1.track, $1.cut) }
        self.scratch = scratch
    }

    package func run() throws -> Findings {
        var findings = Findings()
        var work = stride(from: 0, to: trials.count, by: Trials.batch).map { $0..<min($0 + Trials.batch, trials.count) }
        var running: [pid_t: (range: Range<Int>, slot: Int)] = [:]
        guard let progress = recorder_shared(Int64(Trials.children)) else { throw POSIXError(.ENOMEM) }
        while !work.isEmpty || !running.isEmpty {
            if let range = work.last,
                let slot = (0..<Trials.children).first(where: { slot in !running.values.contains { $0.slot == slot } })
            {
                work.removeLast()
                fflush(nil)
                let child = recorder_fork()
                guard child >= 0 else { throw POSIXError(.EAGAIN) }
                if child == 0 { visit(range, slot, progress) }
                running[child] = (range, slot)
                continue
            }
            var signal: Int32 = 0
            let child = recorder_wait(&signal)
            guard child > 0, let (range, slot) = running.removeValue(forKey: child) else { continue }
            findings.violations += Trials.lines(report(slot))
            if signal == 0 {
                findings.trials += range.count
            } else {
                let at = min(max(range.lowerBound, Int(progress[slot])), range.upperBound - 1)
                findings.violations.append(
                    "\(text(trials[at])): the process ended (\(signal == SIGALRM ? "it hung" : "signal \(signal)"))")
                findings.trials += at + 1 - range.lowerBound
                if at + 1 < range.upperBound { work.append((at + 1)..<range.upperBound) }
            }
        }
        for track in recording.tracks {
            let name = type(of: track.part).name
            findings.counts[name] = findings.violations.count { $0.hasPrefix(name + ",") }
        }
        return findings
    }

    private func report(_ slot: Int) -> String { "\(scratch)/report-\(slot)" }

    private static func lines(_ path: String) -> [String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    private func text(_ trial: Trial) -> String {
        let track = recording.tracks[trial.track]
        let (done, begun) = track.steps(before: trial.cut)
        let event = trial.cut < track.events.all.count ? Trials.text(track.events.all[trial.cut].event) : "the end"
        return
            "\(type(of: track.part).name), before event \(trial.cut) (\(event)), \(done) steps acknowledged, \(begun) handed in, "
            + "of what was not synced \(trial.remains) remains"
    }

    private static func text(_ event: Event) -> String {
        switch event {
        case .write(_, let offset, let bytes, let isDurable):
            "\(isDurable ? "durable write" : "write") of \(bytes.count) bytes at \(offset)"
        default: "\(event)"
        }
    }

    // MARK: - In a child

    private func visit(_ range: Range<Int>, _ slot: Int, _ progress: UnsafeMutablePointer<Int64>) -> Never {
        var lines: [String] = []
        var disk = Disk()
        var (track, applied) = (-1, 0)
        try? "".write(toFile: report(slot), atomically: false, encoding: .utf8)
        for index in range {
            progress[slot] = Int64(index)
            recorder_limit(Trials.secondsMax)
            let trial = trials[index]
            if trial.track != track { (disk, track, applied) = (Disk(), trial.track, 0) }
            let events = recording.tracks[track].events.all
            while applied < trial.cut {
                disk.apply(events[applied].event)
                applied += 1
            }
            var after = disk
            // Of the call that the loss interrupts anything may have happened.
            if case .some = trial.remains, trial.cut < events.count { after.interrupt(events[trial.cut].event) }
            if let fault = judge(trial, after.files(leaving: trial.remains), slot) {
                lines.append("\(text(trial)): \(fault)")
                try? lines.joined(separator: "\n").write(toFile: report(slot), atomically: false, encoding: .utf8)
            }
        }
        recorder_exit(0)
    }

    private func judge(_ trial: Trial, _ files: [String: [UInt8]]?, _ slot: Int) -> String? {
        let track = recording.tracks[trial.track]
        let store = "\(scratch)/store-\(slot)"
        let folder = "\(store)/\(type(of: track.part).name)"
        do {
            try? FileManager.default.removeItem(atPath: store)
            try FileManager.default.createDirectory(
                atPath: files == nil ? store : folder, withIntermediateDirectories: true)
            for (name, bytes) in files ?? [:] {
                try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            }
            let (done, begun) = track.steps(before: trial.cut)
            return try track.part.judge(store: store, done: done, begun: begun)
        } catch {
            return "\(error)".replacing(store, with: "STORE")
        }
    }
}
