import CFanfareTOML

/// Line and column of a file, from 1.
package struct TOMLPlace: Comparable, Sendable {
    package let line: Int
    package let column: Int

    package static let start = TOMLPlace(line: 1, column: 1)

    package static func < (a: TOMLPlace, b: TOMLPlace) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

extension TOMLPlace {
    init(_ place: fanfare_toml_place) {
        self.init(line: max(1, Int(place.line)), column: max(1, Int(place.column)))
    }
}
