import FanfareModel
package import FanfareTOML

extension CardTemplate {
    /// The built-in template files, by kind. The module carries them, so that a program needs no files beside it.
    private static let files: [(kind: String, toml: [UInt8])] = [
        ("football", PackageResources.football_toml), ("hockey", PackageResources.hockey_toml),
        ("volleyball", PackageResources.volleyball_toml), ("transit", PackageResources.transit_toml),
        ("delivery", PackageResources.delivery_toml), ("ride", PackageResources.ride_toml),
        ("queue", PackageResources.queue_toml), ("workout", PackageResources.workout_toml),
        (TopicKind.generic.rawValue, PackageResources.generic_toml), (lineup, PackageResources.lineup_toml),
    ]

    /// Kinds with a template of their own, and `lineup`.
    package static var builtInKinds: [String] { files.map(\.kind) }

    /// Returns the text of a built-in template file; `nil` for a kind without.
    package static func builtInFile(_ kind: String) -> String? {
        files.first { $0.kind == kind }.map { String(decoding: $0.toml, as: UTF8.self) }
    }

    /// Returns the built-in template of a kind; that of `generic` for a kind without.
    ///
    /// - Throws: `TOMLError` for a fault of the file, which is the module's own and which its tests find.
    package static func builtIn(_ kind: String) throws(TOMLError) -> CardTemplate {
        let file = files.first { $0.kind == kind } ?? files.first { $0.kind == TopicKind.generic.rawValue }
        return try CardTemplate(toml: file?.toml ?? [], file: "\(file?.kind ?? kind).toml")
    }
}
