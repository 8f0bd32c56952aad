import FanfareJSON
import FanfareModel
import Foundation

/// Opens single-document files, finds their sidecars, and reads each sidecar once.
struct Documents {
    private let options: FeedOptions
    private let parser = JSONParser()
    private var wyscoutMetadata: [String: WyscoutMetadata] = [:]
    private var dflMatches: [String: [DFLMatch]] = [:]

    init(options: FeedOptions) { self.options = options }

    /// Returns the whole document, or a decoder that rejects it.
    private func read(_ path: String) throws(FeedError) -> Result<[UInt8], UndecodableDocument> {
        guard let bytes = try ByteFile.contents(of: path, limit: options.documentSizeMax) else {
            let reason = "the document is larger than \(options.documentSizeMax)"
            return .failure(UndecodableDocument(path, reason))
        }
        return .success(bytes)
    }

    // MARK: - Wyscout

    mutating func wyscout(_ path: String) throws(FeedError) -> any FeedDecoder {
        let bytes: [UInt8]
        switch try read(path) {
        case .success(let read): bytes = read
        case .failure(let undecodable): return undecodable
        }
        let document: WyscoutDocument
        do {
            document = try WyscoutDocument(bytes, parser: parser)
        } catch {
            return UndecodableDocument(path, "\(error.reason); is the file complete?")
        }
        guard let matchID = document.matchID else {
            return UndecodableDocument(path, "no event in there names its match (`matchId`)")
        }
        let match = try metadata(for: matchID, beside: path)
        let kickoff = options.kickoff ?? match?.kickoff
        var sides = match?.sides ?? [:]
        if sides.isEmpty, document.teams.count == 2 {
            sides = [document.teams[0].id: .home, document.teams[1].id: .away]
        }
        return WyscoutDecoder(path: path, document: document, matchID: matchID, kickoff: kickoff, sides: sides)
    }

    private mutating func metadata(
        for matchID: Int64, beside path: String
    ) throws(FeedError) -> WyscoutMetadata.Match? {
        for folder in foldersAround(path) {
            let file = folder + "/" + Sidecar.wyscoutMetadata
            if wyscoutMetadata[file] == nil, FileManager.default.fileExists(atPath: file) {
                wyscoutMetadata[file] = try WyscoutMetadata(
                    path: file, parser: parser, documentSizeMax: options.documentSizeMax)
            }
            if let match = wyscoutMetadata[file]?[matchID] { return match }
        }
        return nil
    }

    // MARK: - Hockey and volleyball

    mutating func hockey(_ path: String) throws(FeedError) -> any FeedDecoder {
        switch try read(path) {
        case .success(let bytes):
            do {
                return try HockeyDecoder(path: path, bytes: bytes, parser: parser, kickoff: options.kickoff)
            } catch {
                return error
            }
        case .failure(let undecodable): return undecodable
        }
    }

    mutating func volleyball(_ path: String) throws(FeedError) -> any FeedDecoder {
        switch try read(path) {
        case .success(let bytes):
            do { return try VolleyballDecoder(path: path, bytes: bytes, kickoff: options.kickoff) } catch {
                return error
            }
        case .failure(let undecodable): return undecodable
        }
    }

    // MARK: - DFL

    mutating func dfl(_ path: String) throws(FeedError) -> any FeedDecoder {
        let bytes: [UInt8]
        switch try read(path) {
        case .success(let read): bytes = read
        case .failure(let undecodable): return undecodable
        }
        let document = DFLDocument(bytes)
        guard let matchID = document.rows.first(where: { !$0.matchID.isEmpty })?.matchID else {
            if let defect = document.defect { return UndecodableDocument("\(path):\(defect.line)", defect.reason) }
            return UndecodableDocument(path, "no event in there names its match (`MatchId`)")
        }
        for folder in foldersAround(path) {
            if let match = try matches(in: folder).first(where: { $0.id == matchID }) {
                return DFLDecoder(path: path, document: document, info: match)
            }
        }
        return UndecodableDocument(
            path,
            "the teams of match \(matchID) are not known: put its match information (XML with <MatchInformation>) "
                + "beside the file or one folder up")
    }

    private mutating func matches(in folder: String) throws(FeedError) -> [DFLMatch] {
        if let known = dflMatches[folder] { return known }
        var matches: [DFLMatch] = []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.lowercased().hasSuffix(".xml") {
            let file = folder + "/" + name
            guard Sidecar.isDFLMatch(try ByteFile.prefix(of: file, limit: FeedFormat.headSize)),
                let bytes = try ByteFile.contents(of: file, limit: options.documentSizeMax),
                let match = DFLMatch(bytes)
            else { continue }
            matches.append(match)
        }
        dflMatches[folder] = matches
        return matches
    }
}
