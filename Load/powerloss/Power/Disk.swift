internal import FanfareModel

/// Contents that are on a disk for certain, and contents that may be.
///
/// The model: a write is durable when a sync of its file returns, or when it returns itself from a descriptor with `O_DSYNC`. Before that any
/// subset of the sectors that were written may be on the disk. A file is as long as what is on the disk of it. Names are durable when a
/// sync of their folder returns; before that the first so many changes of names are on the disk, as in a file system with a journal. Nothing
/// makes the content of a file precede its name but a sync.
struct Disk {
    static let sectorBytes = 512

    private struct Content {
        var bytes: [UInt8] = []
        /// Changes since the last sync, in order.
        var changes: [Change] = []
    }

    private enum Change {
        case write(offset: Int, [UInt8], isDurable: Bool)
        case length(Int)
    }

    private enum NameChange {
        case add(Int, String)
        case rename(String, String)
        case remove(String)
    }

    private var files: [Int: Content] = [:]
    private var names: [String: Int] = [:]
    private var nameChanges: [NameChange] = []
    private var hasFolder = false
    private var isFolderDurable = false

    mutating func apply(_ event: Event) {
        switch event {
        case .create(let file, let name):
            files[file] = Content()
            nameChanges.append(.add(file, name))
        case .write(let file, let offset, let bytes, let isDurable):
            files[file]?.changes.append(.write(offset: offset, bytes, isDurable: isDurable))
        case .length(let file, let length): files[file]?.changes.append(.length(length))
        case .sync(let file):
            guard var content = files.removeValue(forKey: file) else { return }
            for change in content.changes { Disk.make(change, in: &content.bytes) }
            content.changes = []
            files[file] = content
        case .syncNames:
            for change in nameChanges { Disk.make(change, in: &names) }
            nameChanges = []
        case .syncFolder: isFolderDurable = hasFolder
        case .rename(let from, let to): nameChanges.append(.rename(from, to))
        case .unlink(let name): nameChanges.append(.remove(name))
        case .makeFolder: hasFolder = true
        }
    }

    /// Takes a call that has begun and not returned: what it writes may be on the disk, and is durable in no case.
    mutating func interrupt(_ event: Event) {
        switch event {
        case .write(let file, let offset, let bytes, _):
            apply(.write(file, offset: offset, bytes, isDurable: false))
        case .sync, .syncNames, .syncFolder: return
        default: apply(event)
        }
    }

    private static func make(_ change: Change, in bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let new, _): put(new[...], at: offset, in: &bytes)
        case .length(let length):
            if length < bytes.count { bytes.removeLast(bytes.count - length) }
            bytes += [UInt8](repeating: 0, count: length - bytes.count)
        }
    }

    private static func put(_ new: ArraySlice<UInt8>, at offset: Int, in bytes: inout [UInt8]) {
        let end = offset + new.count
        if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(offset..<end, with: new)
    }

    private static func make(_ change: NameChange, in names: inout [String: Int]) {
        switch change {
        case .add(let file, let name): names[name] = file
        case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
        case .remove(let name): names[name] = nil
        }
    }

    /// Part of the undurable writes that a loss of power leaves.
    enum Remains: Sendable {
        case nothing, everything
        /// A subset, by its seed.
        case some(UInt64)
    }

    /// Returns the files that a loss of power leaves, by name; `nil` without a folder.
    func files(leaving remains: Remains) -> [String: [UInt8]]? {
        guard hasFolder else { return nil }
        switch remains {
        case .nothing:
            guard isFolderDurable else { return nil }
            return names.mapValues { content($0) { _ in .none } }
        case .everything:
            var names = names
            for change in nameChanges { Disk.make(change, in: &names) }
            return names.mapValues { content($0) { _ in .all } }
        case .some(let seed):
            var random = SplitMix64(seed: seed)
            guard isFolderDurable || random.next() % 4 > 0 else { return nil }
            var names = names
            for change in nameChanges.prefix(Int.random(in: 0...nameChanges.count, using: &random)) {
                Disk.make(change, in: &names)
            }
            // Some losses leave almost all, some almost nothing.
            let (kept, torn) = (Int.random(in: 0...100, using: &random), Int.random(in: 0...50, using: &random))
            return Dictionary(
                uniqueKeysWithValues: names.sorted { $0.key < $1.key }.map { name, file in
                    let bytes = content(file) { count in
                        if Int.random(in: 0..<100, using: &random) < torn {
                            return .sectors((0..<count).map { _ in Int.random(in: 0..<100, using: &random) < kept })
                        }
                        return Int.random(in: 0..<100, using: &random) < kept ? .all : .none
                    }
                    return (name, bytes)
                })
        }
    }

    private enum Share {
        case none, all
        case sectors([Bool])
    }

    /// - Parameter share: what stays of a change that touches so many sectors.
    private func content(_ file: Int, _ share: (Int) -> Share) -> [UInt8] {
        guard let content = files[file] else { return [] }
        var bytes = content.bytes
        for change in content.changes {
            guard case .write(let offset, let new, let isDurable) = change else {
                if case .none = share(1) { continue }
                Disk.make(change, in: &bytes)
                continue
            }
            let first = offset / Disk.sectorBytes
            switch isDurable ? .all : share((offset + new.count - 1) / Disk.sectorBytes - first + 1) {
            case .none: continue
            case .all: Disk.put(new[...], at: offset, in: &bytes)
            case .sectors(let kept):
                for (index, isKept) in kept.enumerated() where isKept {
                    let sector = (first + index) * Disk.sectorBytes
                    let (from, end) = (max(offset, sector), min(offset + new.count, sector + Disk.sectorBytes))
                    Disk.put(new[(from - offset)..<(end - offset)], at: from, in: &bytes)
                }
            }
        }
        return bytes
    }
}
