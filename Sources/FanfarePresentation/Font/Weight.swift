/// Weight of a text; the system's guidance asks for medium or heavier (rule P2).
package enum Weight: Int, Sendable, CaseIterable {
    case medium = 500
    case semibold = 600

    var fileName: String {
        switch self {
        case .medium: "Inter-Medium.otf"
        case .semibold: "Inter-SemiBold.otf"
        }
    }
}
