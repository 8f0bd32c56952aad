import Laboratory

/// Unit of a named figure, told by the parts of its name.
enum FigureUnit: Sendable {
    case seconds, bytes, share, number

    init(figure: String) {
        let parts = figure.split(separator: ".").map(String.init)
        let last = parts.last ?? ""
        let isPercentile = last.hasPrefix("p") && Int(last.dropFirst()) != nil
        if last == "share" {
            self = .share
            return
        }
        switch parts.first ?? "" {
        case "cpu", "turn", "run", "restart": self = .seconds
        case "memory", "bytes": self = .bytes
        case "growth": self = .share
        case "pushes", "events", "rings", "connections", "activities", "updates", "goals", "arrivals": self = .number
        case "engine": self = last == "full" ? .share : .number
        default: self = isPercentile || last == "max" ? .seconds : .number
        }
    }

    func text(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        switch self {
        case .seconds: return FigureUnit.time(value)
        case .bytes: return FigureUnit.size(value)
        case .share: return value.asShare
        case .number:
            guard value == value.rounded(), abs(value) < 1e15 else { return value.shortened }
            return Int(value).spaced
        }
    }

    static func time(_ seconds: Double) -> String {
        let steps: [(Double, String)] = [(1, "s"), (1e-3, "ms"), (1e-6, "µs")]
        guard seconds != 0 else { return "0 s" }
        if abs(seconds) >= 120 { return "\((seconds / 60).shortened) min" }
        let (factor, name) = steps.first { abs(seconds) >= $0.0 } ?? (1e-9, "ns")
        return "\((seconds / factor).shortened) \(name)"
    }

    private static func size(_ bytes: Double) -> String {
        let steps: [(Double, String)] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        let (factor, name) = steps.first { abs(bytes) >= $0.0 } ?? (1, "bytes")
        return "\((bytes / factor).shortened) \(name)"
    }
}
