/// A plot in gnuplot's language.
struct PlotScript {
    /// Colours by their part in a picture.
    struct Colours {
        let ink: String
        let grid: String
        let series: [String]
    }

    /// Marks instead of colours: `PlotSVG` replaces them by names that a page gives values to.
    static let marks = Colours(
        ink: "#010201", grid: "#010202", series: (0..<Plot.seriesMax).map { "#01020\(3 + $0)" })
    /// For white paper. The order is safe for colour-blind eyes (Okabe and Ito).
    static let colours = Colours(
        ink: "#333333", grid: "#cccccc", series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a6a00"])
    /// Lines differ without colours, too.
    private static let dashes = ["solid", "(12,5)", "(3,4)", "(14,4,3,4)", "(7,4)"]

    private let plot: Plot
    private let size: PlotSize
    private let colours: Colours

    init(_ plot: Plot, _ size: PlotSize, _ colours: Colours) {
        self.plot = plot
        self.size = size
        self.colours = colours
    }

    private var isNarrow: Bool { size.width < 500 }

    func text(terminal: String) -> String {
        var lines = [
            "reset", "set terminal \(terminal)", "set encoding utf8",
            "set border 3 linecolor rgb '\(colours.ink)' linewidth 1",
            "set grid linecolor rgb '\(colours.grid)' linewidth 1 dashtype solid",
            "set tics nomirror textcolor rgb '\(colours.ink)'",
            "set key above left Left reverse samplen 2.2 spacing 1.1 width 1 textcolor rgb '\(colours.ink)'",
            "set lmargin \(leftMargin)", "set rmargin 5",
        ]
        lines += axis("x", plot.x) + axis("y", plot.y)
        switch plot.content {
        case .lines(let series): lines += self.lines(series, style: "lines")
        case .steps(let series): lines += self.lines(series, style: "fsteps")
        case .bars(let lengths): lines += bars(lengths)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Room for the longest tick of the vertical axis, in letters.
    private var leftMargin: Int { min(isNarrow ? 18 : 26, (plot.y.ticks.map(\.text.count).max() ?? 0) + 2) }

    private func axis(_ name: String, _ axis: Plot.Axis) -> [String] {
        var ticks = axis.ticks
        // On a phone there is no room for each.
        if name == "x", isNarrow, ticks.count > 4 {
            ticks = ticks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        }
        // A tick's text is a format.
        let list = ticks.map { "\(PlotScript.quoted($0.text.replacing("%", with: "%%"))) \($0.at)" }.joined(
            separator: ", ")
        var lines = ["set \(name)tics (\(list)) scale 0.5", "set \(name)range [\(axis.low):\(axis.high)]"]
        if axis.scale == .logarithmic { lines.append("set logscale \(name)") }
        if !axis.label.isEmpty {
            lines.append("set \(name)label \(PlotScript.quoted(axis.label)) textcolor rgb '\(colours.ink)'")
        }
        return lines
    }

    private func lines(_ series: [Plot.Series], style: String) -> [String] {
        var lines: [String] = []
        var parts: [String] = []
        for (index, series) in series.prefix(Plot.seriesMax).enumerated() {
            lines.append("$data\(index) << EOD")
            lines += series.points.map { "\($0.x) \($0.y)" }
            lines.append("EOD")
            parts.append(
                "$data\(index) using 1:2 with \(style) linewidth 2 dashtype \(PlotScript.dashes[index]) "
                    + "linecolor rgb '\(colours.series[index])' title \(PlotScript.quoted(series.name))")
        }
        return lines + ["plot " + parts.joined(separator: ", ")]
    }

    private func bars(_ lengths: [Double]) -> [String] {
        var lines = [
            "unset key", "unset grid", "set grid xtics linecolor rgb '\(colours.grid)' dashtype solid", "$data << EOD",
        ]
        for (index, length) in lengths.enumerated() {
            let y = Double(lengths.count - index)
            lines.append("\(length) \(y) \(plot.x.low) \(max(length, plot.x.low)) \(y - 0.35) \(y + 0.35)")
        }
        lines.append("EOD")
        lines.append(
            "plot $data using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1.0 noborder linecolor rgb '\(colours.series[0])' notitle"
        )
        return lines
    }

    /// A text for gnuplot: nothing but the quote itself means anything between single quotes.
    static func quoted(_ text: String) -> String {
        let plain = text.map { $0.isNewline ? " " : $0 == "'" ? "''" : String($0) }.joined()
        return "'\(plain)'"
    }
}
