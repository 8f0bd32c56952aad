import FanfareModel
import Foundation
import Testing

@testable import FanfarePresentation

@Suite struct TextMeasureTests {
    @Test func widthsGrowWithSizeWeightAndText() throws {
        let measure = try TextMeasure()
        let name = measure.width(of: "Northspire", size: 13)
        #expect(measure.width(of: "", size: 13) == 0)
        #expect(abs(measure.width(of: "Northspire", size: 26) - 2 * name) < 0.001)
        #expect(measure.width(of: "Northspire", size: 13, weight: .semibold) > name)
        #expect(measure.width(of: "Northspire 1", size: 13) > name)
    }

    /// Advances from the table `hmtx` of Inter Medium 4.0, in 2,816 units per em; another release may differ by a little. A wrong weight
    /// or unit differs by more.
    @Test(arguments: [("0", 1819.0), ("1", 1331), ("N", 2103), ("W", 2754), ("m", 2488), (" ", 746)])
    func widthsAreThoseOfTheFont(text: String, advance: Double) throws {
        let width = try TextMeasure().width(of: text, size: 2816)
        #expect(abs(width - advance) < advance / 100)
    }

    /// Rules cut short forms by a table of widths, so that an engine needs no font.
    @Test func M4_shortFormsAreCutByTheSameWidths() throws {
        let measure = try TextMeasure()
        let digit = measure.width(of: "0", size: 1000)
        let ranges: [ClosedRange<UInt32>] = [0x20...0x7E, 0xA1...0x148, 0x14A...0x17F, 0x400...0x45F, 0x2013...0x2014]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) where scalar.value != 0xAD {
            let text = String(scalar)
            // A running number must not be cut now and then, so each digit counts as the widest one.
            let expected = ("0"..."9").contains(scalar) ? 100 : measure.width(of: text, size: 1000) / digit * 100
            #expect(abs(Double(text.width) - expected) <= 2, "\(text), U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test func pairsAreKerned() throws {
        let measure = try TextMeasure()
        let apart = measure.width(of: "A", size: 100) + measure.width(of: "V", size: 100)
        #expect(measure.width(of: "AV", size: 100) < apart - 1)
    }

    @Test func onlyMeasuredCharactersAreEmbedded() throws {
        let measure = try TextMeasure()
        _ = measure.width(of: "NOR 1", size: 13)
        let few = measure.fontFace()
        #expect(few.hasPrefix("@font-face{font-family:\"Inter\";font-weight:500;src:url(data:font/otf;base64,"))
        #expect(few.utf8.count < 40_000)
        _ = measure.width(of: "abcdefghijklmnopqrstuvwxyz", size: 13)
        #expect(measure.fontFace().utf8.count > few.utf8.count)
    }

    /// Inter has no Arabic and no Hebrew; DejaVu Sans has both.
    @Test(arguments: ["القاهرة", "תל אביב 2"]) func otherScriptsHaveAFontOfTheirOwn(name: String) throws {
        let measure = try TextMeasure()
        for weight in Weight.allCases {
            #expect(measure.missing(name, weight: weight) == nil)
            #expect(measure.width(of: name, size: 10, weight: weight) > 20)
        }
        let faces = measure.fontFace().split(separator: "\n").filter { $0.contains("unicode-range:U+") }
        #expect(faces.count == Weight.allCases.count)
        // A name in two scripts is as wide as its parts.
        let (one, other) = (measure.width(of: name, size: 10), measure.width(of: "FC ", size: 10))
        #expect(abs(measure.width(of: "FC \(name)", size: 10) - one - other) < 0.1)
    }

    /// A font with both scripts shapes each as what it is: Arabic letters join, beside Latin ones, too.
    @Test func eachDirectionIsShapedForItself() throws {
        let measure = try TextMeasure(files: ["/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"])
        let (latin, arabic) = (measure.width(of: "FC ", size: 10), measure.width(of: "القاهرة", size: 10))
        #expect(abs(measure.width(of: "FC القاهرة", size: 10) - latin - arabic) < 0.01)
        let apart = "القاهرة".reduce(0) { $0 + measure.width(of: String($1), size: 10) }
        #expect(apart > arabic + 1, "letters that stand alone are wider")
    }

    @Test(arguments: [
        ("Kestrel 1", false), ("תל אביב 2", true), ("1 القاهرة", true), ("Goal: محمد", false), ("محمد (FC)", true),
        ("1–0", false), ("١٢", false), ("", false), ("東京", false),
    ]) func theFirstLetterDecidesTheDirection(text: String, isRightToLeft: Bool) {
        #expect(text.isRightToLeft == isRightToLeft)
    }

    /// A hieroglyph: the width is a guess, and the text's other characters keep theirs.
    @Test func aCharacterThatNoFontHasIsNamed() throws {
        let measure = try TextMeasure()
        #expect(measure.missing("A\u{13000}B", weight: .medium) == "\u{13000}")
        #expect(measure.width(of: "A\u{13000}B", size: 10) > measure.width(of: "AB", size: 10))
        #expect(measure.missing("Ångvik", weight: .medium) == nil)
    }

    @Test func aFileThatIsNoFontIsNamed() {
        let error = #expect(throws: FontError.self) { try TextMeasure(files: [#filePath]) }
        #expect(error?.description.contains("cannot be read as a font") == true)
        #expect(throws: FontError.self) { try TextMeasure(files: ["/nowhere.otf"]) }
    }

    /// A phone draws emoji with a font of pictures, which no package gives HarfBuzz.
    @Test(arguments: ["⚽️", "🇫🇷", "👍🏽", "🥅"]) func anEmojiIsASquare(emoji: String) throws {
        let measure = try TextMeasure()
        #expect(measure.missing("Goal \(emoji)", weight: .medium) == nil)
        let (with, without) = (measure.width(of: "A\(emoji)", size: 10), measure.width(of: "A", size: 10))
        #expect(abs(with - without - 10) < 0.01)
    }

    @Test func theWidthOfEmojiIsAnEstimate() throws {
        let studio = try Studio(Studio.template())
        let scene = try studio.scene(["name": "🥅 1"], .compact)
        #expect(scene.findings.isEmpty && scene.estimates.contains("width of emoji, one em"))
        #expect(scene.svg().contains("width of emoji, one em"))
        #expect(!(try studio.scene(["name": "A 1"], .compact)).estimates.contains("width of emoji, one em"))
    }

    /// Advice that does not help is none.
    @Test(arguments: [
        ("東", "install Debian's fonts-noto-cjk"), ("。", "install Debian's fonts-noto-cjk"),
        ("한", "install Debian's fonts-noto-cjk"), ("क", "install Debian's fonts-noto-core"),
        ("త", "install Debian's fonts-noto-core"), ("\u{13000}", "name one that has it with --font"),
    ]) func aMissingFontIsNamedWithItsPackage(text: String, advice: String) throws {
        var studio = try Studio(Studio.template())
        studio.measure = try TextMeasure(fallbackFolder: "/nowhere")
        let found = try studio.scene(["name": .string(text)], .lockScreen).findings.first { $0.kind == .glyph }
        #expect(found?.text.hasSuffix("so widths are guesses; \(advice)") == true, "\(found?.text ?? "")")
    }

    private static let packages = ProcessInfo.processInfo.environment["FANFARE_FONTS"] ?? "/usr/share/fonts"

    /// The packages that the finding names have these scripts.
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: packages + "/truetype/noto/NotoSansTelugu-Regular.ttf")
                && FileManager.default.fileExists(atPath: packages + "/opentype/noto/NotoSansCJK-Regular.ttc"),
            "SKIPPED: no fonts-noto-core and fonts-noto-cjk here; set FANFARE_FONTS to a folder as /usr/share/fonts"),
        arguments: [
            "दिल्ली", "ঢাকা", "ਪੰਜਾਬ", "ગુજરાત", "ଓଡ଼ିଶା", "சென்னை", "హైదరాబాద్", "ಬೆಂಗಳೂರು", "കേരളം", "කොළඹ", "กรุงเทพ",
            "ວຽງຈັນ", "မြန်မာ", "თბილისი", "አዲስ", "ភ្នំពេញ", "Երևան", "東京", "北京", "서울", "きょう、",
        ]) func anInstalledPackageHasTheScript(name: String) throws
    {
        let measure = try TextMeasure(fallbackFolder: Self.packages)
        for weight in Weight.allCases {
            #expect(measure.missing(name, weight: weight) == nil)
            #expect(measure.width(of: name, size: 10, weight: weight) > 10)
        }
        #expect(measure.fontFace().contains("unicode-range:U+"))
    }
}
