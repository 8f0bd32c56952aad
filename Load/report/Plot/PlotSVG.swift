/// A picture by gnuplot as an element of a page, in whose colours it is drawn.
package struct PlotSVG: Sendable {
    /// The element.
    package let text: String

    /// Names of the colours that a page has to give, in the order of the marks.
    static let variables = ["--ink", "--grid"] + (1...Plot.seriesMax).map { "--plot-\($0)" }

    /// - Parameter drawn: gnuplot's file.
    init(_ drawn: String, _ plot: Plot, _ size: PlotSize) {
        // Before the first group stand gnuplot's own title and size.
        let start = drawn.firstRange(of: "<g ")?.lowerBound ?? drawn.startIndex
        var body = drawn[start...].replacing(/<defs>[\s\S]*?<\/defs>/, with: "")
        body = body.replacing(/(stroke|fill|color)\s*=\s*['"]rgb\(\s*1,\s*2,\s*(\d)\)['"]/) { match in
            let index = (Int(match.2) ?? 1) - 1
            let name = PlotSVG.variables.indices.contains(index) ? PlotSVG.variables[index] : "--ink"
            return "style=\"\(match.1):var(\(name))\""
        }
        // Other colours would stay as they are in the dark.
        body = body.replacing(/\ color\s*=\s*"[^"]*"/, with: "").replacing(
            "fill=\"black\"", with: "fill=\"currentColor\"")
        // One page has many pictures, and each id once.
        body = body.replacing(/\ id\s*=\s*["'][^"']*["']/, with: "").replacing(/\ font-family\s*=\s*"[^"]*"/, with: "")
        for _ in 0..<2 { body = body.replacing(/<g [^>]*>\s*<\/g>\s*/, with: "") }
        let kind = size.width < 500 ? "narrow" : "wide"
        text =
            "<svg class=\"plot \(kind)\" viewBox=\"0 0 \(size.width) \(size.height)\" role=\"img\" "
            + "aria-label=\"\("\(plot.title). \(plot.description)".escapedHTML)\" xmlns=\"http://www.w3.org/2000/svg\">"
            + "\n\(body)"
    }

    /// The picture as a file of its own, with colours for light and dark.
    package var file: String {
        guard let end = text.firstIndex(of: ">") else { return text }
        let style = "<style>\(PageStyle.colours(of: "svg"))svg{background:var(--page);font-family:sans-serif}</style>"
        return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\(text[...end])\n\(style)\(text[text.index(after: end)...])"
    }
}
