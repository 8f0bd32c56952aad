import Foundation
internal import PowerLossParts
internal import WriteRecorder

/// A store that was written while its writes were recorded.
package struct Recording {
    /// Step of a part: its place among the events when it began and when it was acknowledged.
    fileprivate struct Step {
        let begin: Int
        let end: Int
    }

    struct Track {
        let part: any Part
        var events: Events
        fileprivate let steps: [Step]

        /// Number of steps that were acknowledged before an event of the part, and of those that were handed in.
        func steps(before index: Int) -> (done: Int, begun: Int) {
            let place = index < events.all.count ? events.all[index].place : .max
            // A step that is acknowledged at a place ended before the event there; one that begins there has caused it.
            return (Recording.count(steps) { $0.end <= place }, Recording.count(steps) { $0.begin <= place })
        }
    }

    private(set) var tracks: [Track] = []
    package let commits: Int

    /// - Parameter folder: an empty folder for the store, which is removed by its owner.
    package init(commits: Int, folder: String) throws {
        self.commits = commits
        let parts: [any Part] = [
            try LogPart(store: folder), try PeoplePart(store: folder), try ClaimPart(store: folder),
        ]
        var steps = [[Step]](repeating: [], count: parts.count)
        recorder_begin(folder)
        for number in 0..<commits {
            let part = number % parts.count
            let begin = Int(recorder_count())
            try parts[part].step()
            steps[part].append(Step(begin: begin, end: Int(recorder_count())))
        }
        for part in parts { part.close() }
        recorder_end()
        for (part, steps) in zip(parts, steps) {
            tracks.append(Track(part: part, events: Events(of: type(of: part).name, below: folder), steps: steps))
        }
    }

    /// Number of steps, which are in order, from the first one on for which it holds.
    private static func count(_ steps: [Step], where holds: (Step) -> Bool) -> Int {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(steps[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Compares each file with what the events make of it: a write that the recorder did not see would be missing.
    package func difference(from folder: String) -> String? {
        for track in tracks {
            let name = type(of: track.part).name
            var disk = Disk()
            for (_, event) in track.events.all { disk.apply(event) }
            let files = disk.files(leaving: .everything) ?? [:]
            let path = "\(folder)/\(name)"
            let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
                .filter { !Events.passing.contains($0) }.sorted()
            guard names == files.keys.sorted() else { return "\(name): \(names), recorded \(files.keys.sorted())" }
            for name in names
            where FileManager.default.contents(atPath: "\(path)/\(name)").map(Array.init) != files[name] {
                return "\(path)/\(name) is not as recorded"
            }
        }
        return nil
    }

    /// A recording of a store with that fault.
    func committing(_ fault: Fault) -> Recording {
        var copy = self
        for index in copy.tracks.indices where fault.parts.contains(type(of: copy.tracks[index].part).name) {
            copy.tracks[index].events.commit(fault)
        }
        return copy
    }

    /// Summary of the recording, in a line for each part.
    package var text: String {
        tracks.map { track in
            var counts = (writes: 0, durable: 0, syncs: 0, names: 0, again: 0, bytes: 0)
            var length: [Int: Int] = [:]
            for (_, event) in track.events.all {
                switch event {
                case .write(let file, let offset, let bytes, let isDurable):
                    counts.writes += 1
                    if isDurable { counts.durable += 1 }
                    if !isDurable, offset < length[file, default: 0], track.events.names[file] == "data.mdb" {
                        counts.again += 1
                    }
                    length[file] = max(length[file, default: 0], offset + bytes.count)
                    counts.bytes += bytes.count
                case .sync: counts.syncs += 1
                case .syncNames, .syncFolder: counts.names += 1
                default: break
                }
            }
            let data = track.events.names.filter { $0.value == "data.mdb" }.keys.compactMap { length[$0] }.max() ?? 0
            return
                "\(type(of: track.part).name): \(track.steps.count) steps, \(counts.writes) writes (\(counts.durable) durable at once, "
                + "\(counts.again) to pages that were used before), \(counts.bytes >> 10) KB, \(counts.syncs) syncs of files, "
                + "\(counts.names) of names; data.mdb has \(data >> 10) KB and began with a map of 64 KB"
        }.joined(separator: "\n")
    }
}
