import Foundation

/// Files of a feed, with their formats.
struct FeedFiles {
    struct File {
        let path: String
        let format: FeedFormat
    }

    private(set) var files: [File] = []
    private(set) var skipped: [String] = []
    private var known: Set<String> = []
    private let options: FeedOptions

    /// Finds all feed files under the given paths, in path order. Throws for a named file that is no feed; skips such files in folders.
    static func find(in paths: [String], options: FeedOptions) throws(FeedError) -> FeedFiles {
        var found = FeedFiles(options: options)
        for path in paths { try found.add(path) }
        found.files.sort { $0.path < $1.path }
        found.skipped.sort()
        if found.files.isEmpty {
            let folders = paths.joined(separator: ", ")
            throw FeedError(path: folders, reason: "no feed in there: no file of a known format (\(FeedFormat.names))")
        }
        return found
    }

    private init(options: FeedOptions) { self.options = options }

    /// Adds a file unless it is known, because it may have been named twice, or by itself and by its folder.
    private mutating func add(_ path: String, _ format: FeedFormat) {
        if known.insert(path).inserted { files.append(File(path: path, format: format)) }
    }

    private mutating func add(_ path: String) throws(FeedError) {
        var isDirectory: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw FeedError(path: path, reason: "there is no such file or folder")
        }
        guard isDirectory.boolValue else {
            var format = options.format
            // A pipe cannot be inspected and then read again, so it must contain lines.
            if format == nil, !ByteFile.isRegular(path) { format = .native }
            if format == nil { format = FeedFormat(head: try ByteFile.prefix(of: path, limit: FeedFormat.headSize)) }
            guard let format else {
                throw FeedError(
                    path: path,
                    reason: "not a feed of a known format; the option `format` names one (\(FeedFormat.names))")
            }
            add(path, format)
            return
        }
        for file in try FeedFiles.contents(of: path) {
            if Sidecar.isOne(named: file) { continue }
            let head = try ByteFile.prefix(of: file, limit: FeedFormat.headSize)
            if Sidecar.isDFLMatch(head) { continue }
            let recognised = FeedFormat(head: head)
            if let recognised, options.format == nil || options.format == recognised {
                add(file, recognised)
            } else {
                skipped.append(file)
            }
        }
    }

    /// Returns all files below a folder, also on other volumes; does not follow links to folders. `FileManager`'s enumerator leaves out folders
    /// that it cannot read, other volumes, and names that contain the folder's own path.
    private static func contents(of folder: String) throws(FeedError) -> [String] {
        var files: [String] = []
        var folders = [folder.hasSuffix("/") ? String(folder.dropLast()) : folder]
        while let folder = folders.popLast() {
            let names: [String]
            do { names = try FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "/" : folder) } catch {
                throw FeedError(path: folder, reason: "the folder cannot be read")
            }
            for name in names {
                let path = folder + "/" + name
                if ByteFile.isRegular(path) {
                    files.append(path)
                } else if ByteFile.isFolder(path) {
                    folders.append(path)
                }
            }
        }
        return files
    }

    /// Returns a decoder for each file, in path order. Polls of one folder share one, at the place of the first.
    static func decoders(for found: [File], options: FeedOptions) throws(FeedError) -> [any FeedDecoder] {
        var decoders: [any FeedDecoder] = []
        var documents = Documents(options: options)
        let polls = Dictionary(grouping: found.filter { $0.format == .gtfsRealtime }) { foldersAround($0.path)[0] }
        for file in found {
            switch file.format {
            case .native:
                decoders.append(try NativeFileDecoder(path: file.path, lineSizeMax: options.lineSizeMax))
            case .wyscout: decoders.append(try documents.wyscout(file.path))
            case .dfl: decoders.append(try documents.dfl(file.path))
            case .pwhl: decoders.append(try documents.hockey(file.path))
            case .dataVolley: decoders.append(try documents.volleyball(file.path))
            case .gtfsRealtime:
                let together = polls[foldersAround(file.path)[0], default: []].map(\.path)
                guard together.first == file.path else { continue }
                let timetable = try GTFSStatic(beside: file.path, documentSizeMax: options.documentSizeMax)
                decoders.append(
                    GTFSFolderDecoder(
                        paths: together, stopNames: timetable.stops, pollSizeMax: options.documentSizeMax))
            }
        }
        return decoders
    }
}
