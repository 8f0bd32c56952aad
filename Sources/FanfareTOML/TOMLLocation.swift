import CFanfareTOML

/// Line and column of a file, from 1.
package struct TOMLLocation: Comparable, Sendable {
    package let line: Int
    package let column: Int

    package static let start = TOMLLocation(line: 1, column: 1)

    package static func < (a: TOMLLocation, b: TOMLLocation) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

extension TOMLLocation {
    init(_ location: fanfare_toml_place) {
        self.init(line: max(1, Int(location.line)), column: max(1, Int(location.column)))
    }
}
