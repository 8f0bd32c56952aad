/// Rectangle in points, from the upper left corner.
package struct Rect: Sendable, Hashable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double

    var midX: Double { x + width / 2 }
    var midY: Double { y + height / 2 }
    var maxX: Double { x + width }

    func inset(by distance: Double) -> Rect {
        Rect(x: x + distance, y: y + distance, width: width - 2 * distance, height: height - 2 * distance)
    }
}

/// A content on a surface: a background, and items on it from back to front.
package struct Scene: Sendable {
    package struct Item: Sendable {
        enum Form: Sendable {
            case text(String, size: Double, weight: Weight)
            /// A filled rectangle.
            case box(radius: Double)
            case icon(Icon)
        }

        let form: Form
        /// Name of the element; `nil` for an item of the system.
        let element: String?
        var frame: Rect
        /// Colour as the template wants it; the surface's appearance changes it.
        let color: Color
        /// Colour behind the item.
        let behind: Color
        /// Width that the text has, where it has more than its frame.
        var overflow: Double?
        /// A timer runs by itself.
        var isTimer = false
        /// The filled part of a bar, which tells how far something is.
        var isFill = false
        /// An icon in a colour of the feed, such as a club's: it decorates the name beside it, and must tell nothing that the name does not.
        var isDecoration = false
        /// Text for which the shown one stands, for want of room.
        var whole: String?
    }

    package let surface: Surface
    /// Size in points, before the surface's scale.
    package let width: Double
    package let height: Double
    let radius: Double
    let background: Color
    package internal(set) var items: [Item] = []
    /// Spoken form.
    package let spoken: String
    package internal(set) var findings: [Finding] = []

    /// Measures that Apple does not publish, beside `Surface.commonEstimates`.
    package var estimates: [String] {
        let hasEmoji = items.contains { if case .text(let text, _, _) = $0.form { text.hasEmoji } else { false } }
        return surface.estimates + (hasEmoji ? ["width of emoji, one em"] : [])
    }
}

/// Something wrong with a presentation.
package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// A text or a card is larger than its box.
        case overflow
        /// Too little contrast with the background (rule P2).
        case contrast
        /// A field that should be a colour and is none.
        case color
        /// A field of the template that no update has, with nearly the name of one.
        case field
        /// A compact or minimal presentation without live data (rules M3, P5).
        case logoAlone
        /// A compact presentation of which one side shows nothing (rules M4, P5).
        case emptySide
        /// An element on another side in compact than in expanded (rule P2).
        case moved
        /// Nothing for a screen reader to say (rule P3).
        case description
        /// A short form or a name that lacks too many letters for people to tell it (rule M4).
        case cut
        /// A character that no font has, whose width is a guess.
        case glyph
    }

    package let kind: Kind
    /// Device and surface, or the part of a template or of a state, for people.
    package let location: String
    package let element: String?
    /// The fault in words, with the sizes.
    package let text: String

    /// Kind and location of a fault, whatever the update says.
    package struct Fault: Hashable, Sendable {
        let kind: Kind
        let location: String
        let element: String?
    }

    package var fault: Fault { Fault(kind: kind, location: location, element: element) }

    package var description: String { "\(location): \(element.map { "\($0): " } ?? "")\(text)" }
}

extension [Finding] {
    /// The findings of several scenes with each fault once.
    package var distinct: [Finding] {
        var faults: Set<Finding.Fault> = []
        return filter { faults.insert($0.fault).inserted }
    }
}

extension Surface {
    var findingName: String { "\(device.name), \(name)" }
}

extension Double {
    /// The number with at most two decimals.
    var points: String {
        let hundredths = Int64((self * 100).rounded())
        let whole = (hundredths < 0 ? "-" : "") + String(hundredths.magnitude / 100)
        let rest = hundredths.magnitude % 100
        guard rest > 0 else { return whole }
        return whole + "." + (rest % 10 == 0 ? String(rest / 10) : (rest < 10 ? "0" : "") + String(rest))
    }
}
