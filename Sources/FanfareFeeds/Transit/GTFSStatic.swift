import FanfareModel
import Foundation

/// Names of stops from the timetable: `stops.txt` in a folder `gtfs-static` beside the polls or one folder up. Other stops are
/// named by their ids.
struct GTFSStatic {
    /// Names by the ids of their stops.
    private(set) var stops: [String: String] = [:]

    init(beside path: String, documentSizeMax: ByteCount) throws(FeedError) {
        for folder in foldersAround(path) {
            let timetable = folder + "/" + Sidecar.gtfsStatic
            guard FileManager.default.fileExists(atPath: timetable) else { continue }
            stops = try GTFSStatic.stops(in: timetable + "/stops.txt", documentSizeMax)
            return
        }
    }

    private static func stops(in path: String, _ sizeMax: ByteCount) throws(FeedError) -> [String: String] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        guard let bytes = try ByteFile.contents(of: path, limit: sizeMax) else {
            throw FeedError(path: path, reason: "larger than \(sizeMax)")
        }
        return try GTFSRealtimeDecoder.stopNames(ofStops: bytes, name: path)
    }
}

extension GTFSRealtimeDecoder {
    /// Returns the names of a timetable's stops by their ids, as `init(stopNames:pollSizeMax:tripsMax:)` takes them. Stops without a name are
    /// left out.
    ///
    /// - Parameters:
    ///   - table: bytes of the timetable's `stops.txt`, a CSV file in UTF-8.
    ///   - name: name of the table in an error.
    /// - Throws: `FeedError` if the first line lacks the column `stop_id` or `stop_name`.
    /// - Complexity: O(n), n being the size of the table.
    public static func stopNames(
        ofStops table: [UInt8], name: String = "stops.txt"
    ) throws(FeedError) -> [String: String] {
        let (key, value) = ("stop_id", "stop_name")
        var records = CommaSeparated(table)
        guard let header = records.next(), let keyColumn = header.firstIndex(of: key),
            let valueColumn = header.firstIndex(of: value)
        else { throw FeedError(path: name, reason: "no columns \(key) and \(value) in its first line") }
        var names: [String: String] = [:]
        while let record = records.next() {
            guard record.count > max(keyColumn, valueColumn), !record[valueColumn].isEmpty else { continue }
            names[record[keyColumn]] = record[valueColumn]
        }
        return names
    }
}

/// Records of a CSV file (RFC 4180), as GTFS prescribes it: quoted fields may contain commas, line ends and doubled quotes.
struct CommaSeparated: IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    }

    mutating func next() -> [String]? {
        guard !rest.isEmpty else { return nil }
        var record: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                if isQuoted, rest.first == byte {
                    rest = rest.dropFirst()
                    field.append(byte)
                } else {
                    isQuoted.toggle()
                }
            case UInt8(ascii: ",") where !isQuoted:
                record.append(String(decoding: field, as: UTF8.self))
                field.removeAll(keepingCapacity: true)
            case UInt8(ascii: "\r") where !isQuoted && rest.first == UInt8(ascii: "\n"): break
            case UInt8(ascii: "\n") where !isQuoted:
                record.append(String(decoding: field, as: UTF8.self))
                return record
            default: field.append(byte)
            }
        }
        record.append(String(decoding: field, as: UTF8.self))
        return record
    }
}
