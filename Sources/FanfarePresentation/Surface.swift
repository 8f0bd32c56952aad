/// Part of a screen on which the system shows a Live Activity: a kind of surface of a device, in an appearance.
package struct Surface: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case compact
        case minimalAttached
        case minimalDetached
        case expanded
        case lockScreen
        /// The Lock Screen presentation on an unlocked phone without an island, when there is an alert.
        case banner
        case standByMinimal
        /// The Lock Screen presentation at twice its size.
        case standBy
        case smartStack
        case carPlay
        case menuBar
    }

    package let kind: Kind
    package let appearance: Appearance
    package let device: Device

    /// Name for people.
    package var name: String {
        switch kind {
        case .compact: "compact"
        case .minimalAttached: "minimal, attached"
        case .minimalDetached: "minimal, detached"
        case .expanded: "expanded"
        case .lockScreen: "Lock Screen, \(appearance.name)"
        case .banner: "banner of an alert, \(appearance.name)"
        case .standByMinimal: appearance == .night ? "StandBy minimal, Night Mode" : "StandBy minimal"
        case .standBy: appearance == .night ? "StandBy, Night Mode" : "StandBy"
        case .smartStack: "Smart Stack, \(appearance.name)"
        case .carPlay: "CarPlay Dashboard, \(appearance.name)"
        case .menuBar: "menu bar, \(appearance.name)"
        }
    }

    /// Returns `true` if the surface still shows an activity that has ended, until its dismissal.
    package var staysAfterEnd: Bool {
        switch kind {
        case .lockScreen, .standBy, .standByMinimal, .smartStack, .menuBar: true
        case .compact, .minimalAttached, .minimalDetached, .expanded, .banner, .carPlay: false
        }
    }

    /// Part of a template that the surface shows.
    var section: CardTemplate.Section {
        switch kind {
        case .compact, .menuBar: .compact
        case .minimalAttached, .minimalDetached, .standByMinimal: .minimal
        case .expanded: .expanded
        case .lockScreen, .banner, .standBy: .lockScreen
        case .smartStack, .carPlay: .small
        }
    }

    /// Factor by which the surface enlarges the picture.
    package var scale: Double { kind == .standBy ? 2 : 1 }

    /// Measures of the surface that Apple does not publish and that its picture needs.
    package var estimates: [String] {
        var estimates: [String] = []
        switch kind {
        case .compact: estimates.append("shape of the camera")
        case .minimalAttached, .minimalDetached: estimates.append("width between the published bounds")
        case .expanded: estimates += ["margins inside", "shape of the camera"]
        case .lockScreen: estimates += ["corner radius", "default background"]
        case .banner: estimates += ["width and corner radius", "default background"]
        case .standByMinimal: estimates.append("size")
        case .standBy: estimates.append("place on the screen")
        case .smartStack, .carPlay: estimates += ["margins and corner radius", "background"]
        case .menuBar: estimates.append("background")
        }
        if appearance == .alwaysOn { estimates.append("dimming") }
        if appearance == .night { estimates.append("tint") }
        return estimates
    }

    /// Estimates of every surface.
    package static let commonEstimates =
        "text sizes, as a template chooses them, and the font, which is near the system's"
}

/// A screen that shows Live Activities, with the sizes published for it, in points.
package struct Device: Sendable, Hashable {
    package enum Family: Sendable { case phone, pad, watch, car }

    /// Name on the command line.
    package let id: String
    /// Name for people.
    package let name: String
    package let family: Family
    /// Width of the Lock Screen presentation, or of the small layout.
    let width: Double
    /// Height of the small layout.
    let height: Double
    /// Width of the compact presentation's two elements.
    let compactSide: Double
    /// Width of the island with the compact presentation.
    let islandWidth: Double

    private init(
        _ id: String, _ name: String, _ family: Family, width: Double, height: Double = 0, compactSide: Double = 0,
        islandWidth: Double = 0
    ) {
        self.id = id
        self.name = name
        self.family = family
        self.width = width
        self.height = height
        self.compactSide = compactSide
        self.islandWidth = islandWidth
    }

    /// Height of the compact and the minimal presentation.
    static let islandHeight = 36.67
    /// Widths of the minimal presentation.
    static let minimalWidths = 36.67...45
    /// Heights of the expanded and the Lock Screen presentation (rule P1).
    static let cardHeights = 84.0...160
    /// Standard margin on the Lock Screen.
    static let margin = 14.0
    /// Corner radius of the expanded island.
    static let islandRadius = 44.0

    /// Width of the camera's housing between the compact elements, which follows from the published widths.
    var cameraWidth: Double { islandWidth - 2 * compactSide }

    package static let all: [Device] = phones + pads + watches + cars

    package static let phones = [
        Device("iphone-393", "iPhone 393 × 852", .phone, width: 371, compactSide: 52.33, islandWidth: 230),
        Device("iphone-430", "iPhone 430 × 932", .phone, width: 408, compactSide: 62.33, islandWidth: 250),
    ]
    package static let pads = [
        Device("ipad-1366", "iPad 1366 × 1024", .pad, width: 500),
        Device("ipad-1194", "iPad 1194 × 834", .pad, width: 425),
        Device("ipad-1012", "iPad 1012 × 834", .pad, width: 425),
        Device("ipad-1080", "iPad 1080 × 810", .pad, width: 425),
        Device("ipad-1024", "iPad 1024 × 768", .pad, width: 425),
    ]
    package static let watches = [
        Device("watch-40", "Apple Watch 40 mm", .watch, width: 152, height: 69.5),
        Device("watch-41", "Apple Watch 41 mm", .watch, width: 165, height: 72.5),
        Device("watch-44", "Apple Watch 44 mm", .watch, width: 173, height: 76.5),
        Device("watch-45", "Apple Watch 45 mm", .watch, width: 184, height: 80.5),
        Device("watch-49", "Apple Watch 49 mm", .watch, width: 191, height: 81.5),
    ]
    package static let cars = [
        Device("carplay-170", "CarPlay 170 × 78", .car, width: 170, height: 78),
        Device("carplay-240", "CarPlay 240 × 78", .car, width: 240, height: 78),
        Device("carplay-240-tall", "CarPlay 240 × 100", .car, width: 240, height: 100),
    ]

    /// Surfaces of the device, the most looked at first.
    package var surfaces: [Surface] {
        func surface(_ kind: Surface.Kind, _ appearance: Appearance) -> Surface {
            Surface(kind: kind, appearance: appearance, device: self)
        }
        switch family {
        case .phone:
            return [
                surface(.compact, .dark), surface(.minimalAttached, .dark), surface(.minimalDetached, .dark),
                surface(.expanded, .dark), surface(.lockScreen, .light), surface(.lockScreen, .dark),
                surface(.lockScreen, .alwaysOn), surface(.banner, .light), surface(.banner, .dark),
                surface(.standByMinimal, .dark), surface(.standByMinimal, .night), surface(.standBy, .dark),
                surface(.standBy, .night), surface(.menuBar, .light), surface(.menuBar, .dark),
            ]
        case .pad: return [surface(.lockScreen, .light), surface(.lockScreen, .dark)]
        case .watch: return [surface(.smartStack, .dark), surface(.smartStack, .alwaysOn)]
        case .car: return [surface(.carPlay, .light), surface(.carPlay, .dark)]
        }
    }
}
