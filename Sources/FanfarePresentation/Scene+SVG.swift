extension Scene {
    /// Size of the picture, with the surface's scale.
    package var pictureWidth: Double { width * surface.scale }
    package var pictureHeight: Double { height * surface.scale }

    /// The scene as an `<svg>` element.
    ///
    /// - Parameter fontFace: `@font-face` rules for a picture that stands alone; `nil` in a page, which has them once for all.
    package func svg(fontFace: String? = nil) -> String {
        var svg =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"\(spoken.escapedForMarkup)\" "
            + "width=\"\(pictureWidth.points)\" height=\"\(pictureHeight.points)\" "
            + "viewBox=\"0 0 \(width.points) \(height.points)\" data-place=\"\(surface.name.escapedForMarkup)\" "
            + "data-device=\"\(surface.device.id)\""
        if !findings.isEmpty { svg += " data-findings=\"\(findings.count)\"" }
        // A text that does not fit is seen whole, and so are rows.
        if items.contains(where: { $0.overflow != nil }) || rowsOverflow { svg += " overflow=\"visible\"" }
        svg += ">\n<title>\(spoken.escapedForMarkup)</title>\n<desc>\(note.escapedForMarkup)</desc>\n"
        if let fontFace { svg += "<style>\(fontFace)</style>\n" }
        svg += contents
        return svg + "</svg>\n"
    }

    /// Description of the picture, with its estimated measures.
    private var note: String {
        "Sketch of \(surface.name), \(surface.device.name); the app draws the real one. Estimates: "
            + (estimates + [Surface.commonEstimates]).joined(separator: "; ") + "."
    }

    private var contents: String {
        let shown = surface.appearance.shown
        var svg =
            "<rect width=\"\(width.points)\" height=\"\(height.points)\" rx=\"\(radius.points)\" "
            + "fill=\"\(shown(background).hex)\"/>\n"
        if surface.kind == .compact || surface.kind == .expanded { svg += camera }
        for item in items { svg += item.svg(shown(item.color).hex) }
        if rowsOverflow { svg += Scene.mark(Rect(x: 0, y: 0, width: width, height: height)) }
        return svg
    }

    /// Is `true` for rows that are higher than their box.
    private var rowsOverflow: Bool { findings.contains { $0.kind == .overflow && $0.element == nil } }

    /// The camera's housing, which hides items behind it.
    private var camera: String {
        let device = surface.device
        let frame = Rect(
            x: (width - device.cameraWidth) / 2, y: 0, width: device.cameraWidth, height: Device.islandHeight)
        return "<rect \(frame.inset(by: 5).attributes) rx=\"13.33\" fill=\"#0c0c0e\"/>\n"
            + "<circle cx=\"\((frame.maxX - 19).points)\" cy=\"\(frame.midY.points)\" r=\"5\" fill=\"#16161c\"/>\n"
    }

    /// A frame around an overflow.
    fileprivate static func mark(_ frame: Rect) -> String {
        "<rect \(frame.inset(by: 0.75).attributes) fill=\"none\" stroke=\"#ff375f\" stroke-width=\"1.5\" "
            + "stroke-dasharray=\"4 3\"/>\n"
    }
}

extension Scene.Item {
    fileprivate func svg(_ color: String) -> String {
        let name = element.map { " data-element=\"\($0.escapedForMarkup)\"" } ?? ""
        switch form {
        case .box(let radius):
            return "<rect \(frame.attributes) rx=\"\(radius.points)\" fill=\"\(color)\"\(name)/>\n"
        case .icon(let icon):
            let scale = frame.width / 24
            return "<path transform=\"translate(\(frame.x.points) \(frame.y.points)) scale(\(scale.points))\" "
                + "d=\"\(icon.path)\" fill=\"\(color)\" fill-rule=\"evenodd\"\(name)/>\n"
        case .text(let text, let size, let weight):
            // Inter's capitals are 0.727 em high; they stand in the middle of the line.
            let baseline = frame.midY + 0.3635 * size
            // A text begins at its own side of the frame, and characters that follow its letters, digits and `…` for example, stand on the other.
            let (x, direction) = text.isRightToLeft ? (frame.maxX, " direction=\"rtl\"") : (frame.x, "")
            var svg =
                "<text x=\"\(x.points)\"\(direction) y=\"\(baseline.points)\" font-family=\"\(TextMeasure.family), sans-serif\" "
                + "font-size=\"\(size.points)\" font-weight=\"\(weight.rawValue)\" fill=\"\(color)\" "
                + "text-rendering=\"geometricPrecision\" xml:space=\"preserve\" data-width=\"\(frame.width.points)\"\(name)"
            if isTimer { svg += " data-timer=\"\"" }
            svg += ">\(text.escapedForMarkup)</text>\n"
            if overflow != nil { svg += Scene.mark(frame) }
            return svg
        }
    }
}

extension Rect {
    fileprivate var attributes: String {
        "x=\"\(x.points)\" y=\"\(y.points)\" width=\"\(max(0, width).points)\" height=\"\(max(0, height).points)\""
    }
}
