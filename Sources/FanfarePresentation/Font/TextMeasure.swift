import Foundation

/// Size, line height and weight of a text: iOS's text styles at the default size.
package enum TextStyle: String, Sendable, CaseIterable {
    case largeTitle, title, title2, title3, headline, body, callout, subheadline, footnote, caption, caption2

    /// Size and line height in points (Human Interface Guidelines, Typography, "Large").
    var measures: (size: Double, lineHeight: Double) {
        switch self {
        case .largeTitle: (34, 41)
        case .title: (28, 34)
        case .title2: (22, 28)
        case .title3: (20, 25)
        case .headline, .body: (17, 22)
        case .callout: (16, 21)
        case .subheadline: (15, 20)
        case .footnote: (13, 18)
        case .caption: (12, 16)
        case .caption2: (11, 13)
        }
    }

    var weight: Weight {
        switch self {
        case .largeTitle, .title, .title2, .title3, .headline: .semibold
        case .body, .callout, .subheadline, .footnote, .caption, .caption2: .medium
        }
    }
}

/// Fonts could not be found or read.
package struct FontError: Error, CustomStringConvertible, Sendable {
    package let description: String
}

/// Widths of texts, by the metrics of a font: Inter, whose widths are near those of the system's font. Other scripts have other fonts, as on a
/// phone.
///
/// Confined to one thread.
package final class TextMeasure {
    /// Folders of Debian, Fedora, Arch and macOS.
    private static let folders = [
        "/usr/share/fonts/opentype/inter", "/usr/share/fonts/rsms-inter-fonts", "/usr/share/fonts/inter",
        "/usr/local/share/fonts", "/Library/Fonts",
    ]

    /// The chosen font of each weight; those for other scripts follow once a text needs them.
    private var fonts: [Weight: [HarfBuzzFont]]
    private var hasFallbacks = false
    private let fallbackFolder: String
    /// Files of the fonts for other scripts; empty until a text has needed one.
    package private(set) var fallbacksUsed: [String] = []
    /// Characters measured so far, by weight and font: those that a subset needs.
    private var characters: [Weight: [Set<Unicode.Scalar>]] = [:]
    private var widths: [Key: Double] = [:]

    private struct Key: Hashable {
        let weight: Weight
        let text: String
    }

    /// - Parameters:
    ///   - files: font files of the weights, the lightest first, the last one for all that follow; empty: Inter, where the system has it.
    ///   - fallbackFolder: folder of the fonts for other scripts.
    package init(files: [String] = [], fallbackFolder: String? = nil) throws(FontError) {
        self.fallbackFolder = fallbackFolder ?? ScriptFonts.folder
        var fonts: [Weight: HarfBuzzFont] = [:]
        guard files.count <= Weight.allCases.count else {
            throw FontError(
                description: "\(files[Weight.allCases.count]): expected two fonts at most, medium and semibold")
        }
        if !files.isEmpty {
            for (index, weight) in Weight.allCases.enumerated() {
                let file = files[min(index, files.count - 1)]
                guard let font = HarfBuzzFont(file: file) else {
                    throw FontError(description: "\(file): cannot be read as a font; expected an OpenType file")
                }
                fonts[weight] = font
            }
        } else {
            for weight in Weight.allCases {
                let paths = TextMeasure.folders.map { "\($0)/\(weight.fileName)" }
                guard let font = paths.lazy.compactMap({ HarfBuzzFont(file: $0) }).first else {
                    throw FontError(
                        description: "\(weight.fileName): not found in \(TextMeasure.folders.joined(separator: ", ")); "
                            + "install the font Inter (Debian's package fonts-inter) or name a font with --font FILE")
                }
                fonts[weight] = font
            }
        }
        self.fonts = fonts.mapValues { [$0] }
    }

    /// Returns the width in points.
    package func width(of text: String, size: Double, weight: Weight = .medium) -> Double {
        guard !text.isEmpty else { return 0 }
        let key = Key(weight: weight, text: text)
        if let width = widths[key] { return width * size }
        // A long recording has as many texts as updates; their widths need not all be kept.
        if widths.count >= 1 << 14 { widths.removeAll() }
        var width = 0.0
        for run in runs(of: text, weight) {
            guard !run.isEmoji else {
                // The font of emoji has pictures, whose widths HarfBuzz does not know everywhere; each is about a square.
                width += Double(run.text.count)
                continue
            }
            guard let font = fonts[weight]?[run.font] else { continue }
            width += font.width(of: run.text)
            var used = characters[weight] ?? []
            while used.count <= run.font { used.append([]) }
            used[run.font].formUnion(run.text.unicodeScalars)
            characters[weight] = used
        }
        widths[key] = width
        return width * size
    }

    /// Part of a text that is shaped at once. Letters of one direction only can be: Arabic ones join, Latin ones are kerned.
    private struct Run {
        let font: Int
        let isRightToLeft: Bool
        let isEmoji: Bool
        var text: String
    }

    /// Splits a text by the fonts that have its characters, and by direction, as a browser does. A character that no font has is left to
    /// the chosen one.
    private func runs(of text: String, _ weight: Weight) -> [Run] {
        if TextMeasure.isPlain(text) { return [Run(font: 0, isRightToLeft: false, isEmoji: false, text: text)] }
        var runs: [Run] = []
        for character in text {
            let isEmoji = character.isEmoji
            let font = isEmoji ? 0 : self.font(of: character, weight) ?? 0
            let isRightToLeft = character.isRightToLeft ?? runs.last?.isRightToLeft ?? false
            if let last = runs.last, last.font == font, last.isRightToLeft == isRightToLeft,
                last.isEmoji == isEmoji
            {
                runs[runs.count - 1].text.append(character)
            } else {
                runs.append(
                    Run(font: font, isRightToLeft: isRightToLeft, isEmoji: isEmoji, text: String(character)))
            }
        }
        return runs
    }

    private func font(of character: Character, _ weight: Weight) -> Int? {
        if let index = fonts[weight]?.firstIndex(where: { $0.has(character) }) { return index }
        guard !hasFallbacks else { return nil }
        hasFallbacks = true
        for weight in Weight.allCases {
            for files in ScriptFonts.files(weight) {
                let paths = files.map { "\(fallbackFolder)/\($0)" }
                guard let file = paths.first(where: FileManager.default.fileExists(atPath:)),
                    let font = HarfBuzzFont(file: file)
                else { continue }
                fonts[weight]?.append(font)
                fallbacksUsed.append(file)
            }
        }
        return self.font(of: character, weight)
    }

    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } }

    /// Returns the digit that is widest, which a timer shows sooner or later.
    func widestDigit(_ weight: Weight) -> Character {
        "0123456789".max {
            width(of: String($0), size: 1, weight: weight) < width(of: String($1), size: 1, weight: weight)
        }
            ?? "0"
    }

    /// Returns the first character that no font has. Emoji are drawn by a font of their own.
    func missing(_ text: String, weight: Weight) -> Character? {
        TextMeasure.isPlain(text) ? nil : text.first { !$0.isEmoji && font(of: $0, weight) == nil }
    }

    /// Returns the `@font-face` rules for everything measured so far, with the glyphs in them, so that a picture needs no installed
    /// font.
    package func fontFace() -> String {
        Weight.allCases.flatMap { weight in
            (characters[weight] ?? []).enumerated().compactMap { index, used in
                guard !used.isEmpty, let data = fonts[weight]?[index].subset(used) else { return nil }
                // A font for another script serves the characters that it alone has.
                let range = used.map(\.value).sorted().map { "U+" + String($0, radix: 16, uppercase: true) }
                return "@font-face{font-family:\"\(TextMeasure.family)\";font-weight:\(weight.rawValue);"
                    + "src:url(data:font/otf;base64,\(data.base64EncodedString())) format(\"opentype\")"
                    + (index == 0 ? "" : ";unicode-range:\(range.joined(separator: ","))") + "}"
            }
        }.joined(separator: "\n")
    }

    /// Name of the font in pictures. Programs that cannot read an embedded font use the installed one.
    static let family = "Inter"
}
