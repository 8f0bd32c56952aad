import FanfarePresentation

extension Scene {
    /// Size for people.
    var size: String {
        "\(width.twoDecimals) × \(height.twoDecimals)" + (surface.scale == 1 ? "" : ", drawn at twice its size")
    }
}

extension Double {
    fileprivate var twoDecimals: String {
        let text = fixed(2)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
    }
}
