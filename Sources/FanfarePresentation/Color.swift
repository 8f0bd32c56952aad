import Foundation

/// An opaque sRGB colour.
package struct Color: Sendable, Hashable {
    /// Components from 0 to 1.
    package var red: Double
    package var green: Double
    package var blue: Double

    package init(red: Double, green: Double, blue: Double) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    package init(gray: Double) { self.init(red: gray, green: gray, blue: gray) }

    /// Parses `#RRGGBB` or `#RGB`, with or without `#`; `nil` for other text.
    package init?(hex text: String) {
        let digits = text.hasPrefix("#") ? text.dropFirst() : Substring(text)
        guard digits.utf8.allSatisfy({ Color.isHexDigit($0) }), let value = UInt32(digits, radix: 16) else {
            return nil
        }
        func component(_ shift: UInt32, _ bits: UInt32) -> Double {
            Double(value >> shift & (1 << bits - 1)) / Double((1 << bits) - 1)
        }
        switch digits.utf8.count {
        case 6: self.init(red: component(16, 8), green: component(8, 8), blue: component(0, 8))
        case 3: self.init(red: component(8, 4), green: component(4, 4), blue: component(0, 4))
        default: return nil
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    package static let black = Color(gray: 0)
    package static let white = Color(gray: 1)

    package var hex: String {
        "#"
            + [red, green, blue].map { component in
                let byte = UInt8(min(max((component * 255).rounded(), 0), 255))
                return (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
    }

    /// Relative luminance by WCAG 2.
    package var luminance: Double {
        func linear(_ component: Double) -> Double {
            component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// Contrast ratio by WCAG 2, from 1 to 21.
    package func contrast(with other: Color) -> Double {
        let (a, b) = (luminance, other.luminance)
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    /// Least contrast of a text with its background (rule P2).
    package static let contrastMin = 4.5
    /// Least contrast of an icon, or of the filled part of a bar, with its surroundings (WCAG 2, 1.4.11).
    package static let graphicContrastMin = 3.0

    func mixed(_ share: Double, with other: Color) -> Color {
        func mix(_ a: Double, _ b: Double) -> Double { a * share + b * (1 - share) }
        return Color(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
    }

    func dimmed(to share: Double) -> Color { mixed(share, with: .black) }

    /// Black or white, whichever contrasts more.
    var opposite: Color { contrast(with: .white) >= contrast(with: .black) ? .white : .black }
}

/// Treatment of colours on a surface.
package enum Appearance: String, Sendable, CaseIterable {
    case light
    case dark
    /// Like dark, dimmed.
    case alwaysOn
    /// StandBy in the dark: tinted red.
    case night

    /// Name for people.
    package var name: String {
        switch self {
        case .light: "light"
        case .dark: "dark"
        case .alwaysOn: "Always-On"
        case .night: "Night Mode"
        }
    }

    /// Share of its light that a colour keeps on an Always-On display. Estimate: Apple publishes no figure.
    static let dimming = 0.7
    /// White in Night Mode. Estimate: Apple publishes no colour.
    static let nightTint = Color(red: 1, green: 0.27, blue: 0.23)

    /// Returns the colour as the surface shows it.
    func shown(_ color: Color) -> Color {
        switch self {
        case .light, .dark: color
        case .alwaysOn: color.dimmed(to: Appearance.dimming)
        case .night:
            // A tint keeps the lightness and replaces the hue.
            Appearance.nightTint.dimmed(to: pow(color.luminance, 1 / 2.2))
        }
    }
}

/// Colours that a template names by their part.
struct Palette {
    let appearance: Appearance
    let background: Color
    let accent: Color
    let lightAccent: Color?

    /// Share of the primary colour in the secondary one; Night Mode has less contrast to give away.
    private var secondaryShare: Double { appearance == .night ? 0.88 : 0.68 }

    var primary: Color { background.opposite }
    var secondary: Color { primary.mixed(secondaryShare, with: background) }
    /// Night Mode has one hue only, in which an accent is the lightest.
    var shownAccent: Color {
        appearance == .night ? primary : background.opposite == .black ? lightAccent ?? accent : accent
    }
}
