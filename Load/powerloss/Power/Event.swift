internal import WriteRecorder

/// Change that a store made in the folder of one of its parts. A file has a number, whatever its name.
enum Event {
    case create(Int, String)
    /// - isDurable: through a descriptor that makes each write durable (`O_DSYNC`).
    case write(Int, offset: Int, [UInt8], isDurable: Bool)
    case length(Int, Int)
    case sync(Int)
    /// Names in the folder are durable.
    case syncNames
    /// The folder's own name is durable.
    case syncFolder
    case rename(String, String)
    case unlink(String)
    case makeFolder
}

/// Events of one part, each with its place among those of all parts.
struct Events {
    private(set) var all: [(place: Int, event: Event)] = []
    /// Last names of the files.
    private(set) var names: [Int: String] = [:]
    /// Files of which nothing is promised, and which no loss of power leaves: a lock, and a lock with what a restart was deciding.
    static let passing: Set<String> = ["owner", "lock.mdb", "data.mdb.partial-lock"]

    init(of part: String, below root: String) {
        let folder = "\(root)/\(part)"
        func name(_ path: UnsafePointer<CChar>?) -> String? {
            guard let path else { return nil }
            let text = String(cString: path)
            guard text.hasPrefix(folder + "/") else { return nil }
            let name = String(text.dropFirst(folder.utf8.count + 1))
            return Events.passing.contains(name) ? nil : name
        }
        for place in 0..<Int(recorder_count()) {
            let recorded = recorder_event(Int64(place))
            let file = Int(recorded.file)
            let path = recorded.path.map { String(cString: $0) }
            switch Int(recorded.kind) {
            case RECORDED_CREATE:
                guard let name = name(recorded.path) else { continue }
                names[file] = name
                all.append((place, .create(file, name)))
            case RECORDED_WRITE where names[file] != nil:
                let bytes = Array(UnsafeBufferPointer(start: recorded.bytes, count: Int(recorded.length)))
                all.append(
                    (place, .write(file, offset: Int(recorded.offset), bytes, isDurable: recorded.durable != 0)))
            case RECORDED_LENGTH where names[file] != nil:
                all.append((place, .length(file, Int(recorded.offset))))
            case RECORDED_SYNC where names[file] != nil: all.append((place, .sync(file)))
            case RECORDED_SYNC_NAMES where path == folder: all.append((place, .syncNames))
            case RECORDED_SYNC_NAMES where path == root: all.append((place, .syncFolder))
            case RECORDED_RENAME:
                guard let from = name(recorded.path), let to = name(recorded.other) else { continue }
                names[file] = to
                all.append((place, .rename(from, to)))
            case RECORDED_UNLINK:
                guard let name = name(recorded.path) else { continue }
                all.append((place, .unlink(name)))
            case RECORDED_MKDIR where path == folder: all.append((place, .makeFolder))
            default: continue
            }
        }
    }

    /// Leaves out what a fault leaves out.
    mutating func commit(_ fault: Fault) {
        var kept: [(place: Int, event: Event)] = []
        let syncs = all.count { if case .sync(let file) = $0.event { names[file] == "data.mdb" } else { false } }
        var seen = 0
        for (place, event) in all {
            switch event {
            case .sync(let file):
                let isData = names[file] == "data.mdb"
                if isData { seen += 1 }
                let isLeftOut =
                    switch fault {
                    case .dataSync: isData && seen > 1
                    case .oneSync: isData && seen == syncs / 2
                    case .newSync: isData && seen == 1
                    case .fileSync: !isData
                    case .metaSync, .nameSync: false
                    }
                if isLeftOut { continue }
                kept.append((place, event))
            case .write(let file, let offset, let bytes, _) where fault == .metaSync:
                kept.append((place, .write(file, offset: offset, bytes, isDurable: false)))
            case .syncNames where fault == .nameSync: continue
            default: kept.append((place, event))
            }
        }
        all = kept
    }
}

/// A sync that a store leaves out, so that a run shows that the judge sees it.
package enum Fault: String, CaseIterable, Sendable {
    /// No commit syncs its pages.
    case dataSync = "data-sync"
    /// One commit, in the middle, does not sync its pages.
    case oneSync = "one-sync"
    /// The first pages of a new file are not synced before it gets its name.
    case newSync = "new-sync"
    /// The page that says which commit is the last is not durable when its write returns.
    case metaSync = "meta-sync"
    /// A checkpoint's file is not synced before it gets its name.
    case fileSync = "file-sync"
    /// Names are not synced.
    case nameSync = "name-sync"

    /// Parts of the store in which it matters.
    package var parts: [String] { self == .fileSync ? ["log"] : ["log", "people", "claims"] }
}
