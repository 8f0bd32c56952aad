/// Pictures of one moment, side by side.
package struct PreviewSheet: Sendable {
    package let title: String
    /// The push and the time at which it is seen, for people.
    package let subtitles: [String]
    package let scenes: [Scene]
    /// Findings that no single scene has.
    package let findings: [Finding]
    let fontFace: String
    private let captionWidths: [Double]
    /// Width of the lines below the title.
    private let noteWidth: Double

    package init(title: String, subtitles: [String], scenes: [Scene], findings: [Finding], _ measure: TextMeasure) {
        self.title = title
        self.subtitles = subtitles
        self.scenes = scenes
        self.findings = findings
        // Captions are part of the picture, so the font must have their letters.
        for heading in [title, PreviewSheet.faultsTitle] { _ = measure.width(of: heading, size: 20, weight: .semibold) }
        for finding in scenes.flatMap(\.findings) + findings { _ = measure.width(of: finding.description, size: 15) }
        noteWidth = (subtitles + [PreviewSheet.note]).map { measure.width(of: $0, size: 13) }.max() ?? 0
        captionWidths = scenes.map {
            max(
                measure.width(of: PreviewSheet.caption($0), size: 12),
                measure.width(of: PreviewSheet.estimates($0), size: 11))
        }
        fontFace = measure.fontFace()
    }

    static let note =
        "A sketch by the published sizes; the app draws the real card. Estimates: \(Surface.commonEstimates); others are named "
        + "below each picture."

    private static let faultsTitle = "Does not hold"

    /// The second line of a caption; empty for a surface with published measures only.
    private static func estimates(_ scene: Scene) -> String {
        scene.estimates.isEmpty ? "" : "Estimates: " + scene.estimates.joined(separator: ", ")
    }

    private static func caption(_ scene: Scene) -> String {
        (scene.surface.device.family == .phone ? "" : "\(scene.surface.device.name), ")
            + "\(scene.surface.name) · \(scene.width.points) × \(scene.height.points)"
            + (scene.surface.scale == 1 ? "" : ", \(scene.surface.scale.points)×")
    }

    private struct Cell {
        let scene: Scene
        let x: Double
        let y: Double
    }

    private static let margin = 28.0
    private static let captionHeight = 38.0

    /// Places the pictures in rows, in their order.
    private func cells() -> (cells: [Cell], width: Double, height: Double) {
        let margin = PreviewSheet.margin
        let widest = scenes.map(\.pictureWidth).max() ?? 0
        let limit = max(widest, 860, noteWidth)
        var cells: [Cell] = []
        var (x, y, rowHeight) = (margin, margin + 46 + 19 * Double(subtitles.count + 1), 0.0)
        for (scene, captionWidth) in zip(scenes, captionWidths) {
            // A caption may be wider than its picture.
            let width = max(scene.pictureWidth, captionWidth)
            if x > margin, x + width > margin + limit {
                (x, y, rowHeight) = (margin, y + rowHeight + margin, 0)
            }
            cells.append(Cell(scene: scene, x: x, y: y))
            x += width + margin
            rowHeight = max(rowHeight, scene.pictureHeight + PreviewSheet.captionHeight)
        }
        return (cells, limit + 2 * margin, y + rowHeight + margin)
    }

    /// The pictures as one picture that needs nothing else.
    package func svg() -> String {
        let (cells, width, height) = cells()
        func text(_ text: String, x: Double, y: Double, size: Double, weight: Weight, color: String) -> String {
            "<text x=\"\(x.points)\" y=\"\(y.points)\" font-family=\"\(TextMeasure.family), sans-serif\" "
                + "font-size=\"\(size.points)\" font-weight=\"\(weight.rawValue)\" fill=\"\(color)\">"
                + "\(text.escapedForMarkup)</text>\n"
        }
        let margin = PreviewSheet.margin
        var svg =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width.points)\" height=\"\(height.points)\" "
            + "viewBox=\"0 0 \(width.points) \(height.points)\">\n<title>\(title.escapedForMarkup)</title>\n"
            + "<style>\(fontFace)</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#8e9aa8\"/>\n"
        svg += text(title, x: margin, y: margin + 18, size: 20, weight: .semibold, color: "#000000")
        for (index, line) in (subtitles + [PreviewSheet.note]).enumerated() {
            let y = margin + 40 + 19 * Double(index)
            svg += text(line, x: margin, y: y, size: 13, weight: .medium, color: "#000000")
        }
        for cell in cells {
            // A nested picture has its own coordinates.
            svg += "<svg x=\"\(cell.x.points)\" y=\"\(cell.y.points)\"" + cell.scene.svg().dropFirst(4)
            let color = cell.scene.findings.isEmpty ? "#000000" : "#6a0018"
            svg += text(
                PreviewSheet.caption(cell.scene), x: cell.x, y: cell.y + cell.scene.pictureHeight + 16, size: 12,
                weight: .medium, color: color)
            let estimates = PreviewSheet.estimates(cell.scene)
            guard !estimates.isEmpty else { continue }
            svg += text(
                estimates, x: cell.x, y: cell.y + cell.scene.pictureHeight + 31, size: 11, weight: .medium,
                color: "#000000")
        }
        return svg + "</svg>\n"
    }

    /// The pictures as a page that needs nothing else.
    package func html() -> String {
        let findings = (scenes.flatMap(\.findings) + findings).distinct
        var html = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title.escapedForMarkup)</title>
            <style>
            \(fontFace)
            \(PreviewSheet.style)
            </style>
            <main>
            <h1>\(title.escapedForMarkup)</h1>
            \(subtitles.map { "<p>\($0.escapedForMarkup)</p>" }.joined(separator: "\n"))
            <p class="note">\(PreviewSheet.note)</p>

            """
        if !findings.isEmpty {
            let items = findings.map { "<li>\($0.description.escapedForMarkup)</li>\n" }.joined()
            html += "<section class=\"findings\"><h2>\(PreviewSheet.faultsTitle)</h2>\n<ul>\n\(items)</ul></section>\n"
        }
        html += "<div class=\"sheet\">\n"
        for scene in scenes {
            let estimates = PreviewSheet.estimates(scene)
            html +=
                "<figure>\(scene.svg())<figcaption>\(PreviewSheet.caption(scene).escapedForMarkup)"
                + (estimates.isEmpty ? "" : "<small>\(estimates.escapedForMarkup)</small>") + "</figcaption></figure>\n"
        }
        return html + "</div>\n</main>\n</html>\n"
    }

    private static let style = """
        :root{color-scheme:light dark;--paper:#e9ecf0;--ink:#111;--wall:#8e9aa8;--alarm:#a3002a}
        @media (prefers-color-scheme:dark){:root{--paper:#111316;--ink:#eee;--wall:#3a424c;--alarm:#ff8fa8}}
        body{margin:0;background:var(--paper);color:var(--ink);font:500 15px/1.45 Inter,sans-serif}
        main{max-width:64rem;margin:0 auto;padding:1.5rem}
        h1{font-size:1.4rem;font-weight:600;margin:0}
        h2{font-size:1rem;font-weight:600;margin:0}
        p{margin:.3rem 0}.note{opacity:.8}
        .findings{color:var(--alarm)}
        .sheet{display:flex;flex-wrap:wrap;gap:1.5rem;margin-top:1rem;padding:1.5rem;background:var(--wall);border-radius:12px;
        align-items:flex-start}
        figure{margin:0;max-width:100%}
        figure svg{display:block;max-width:100%;height:auto}
        figcaption{font-size:12px;margin-top:.4rem;color:#000}small{display:block;font-size:11px}
        @media (prefers-color-scheme:dark){figcaption{color:#fff}}
        @media (max-width:30rem){main{padding:.75rem}.sheet{padding:.75rem;border-radius:8px}}
        """
}
