import Foundation
package import Laboratory

/// A result as one page that needs nothing else: neither scripts nor a network.
package struct ReportPage {
    private let result: LoadResult
    /// Index of the run that the page shows in full: the first that failed, or the first.
    private let shown: Int

    /// - Parameter result: has one run at least, or the page says that it has none.
    package init(_ result: LoadResult) {
        self.result = result
        shown = result.runs.firstIndex { !$0.verdict.passes } ?? 0
    }

    /// - Parameter path: folders in which gnuplot may be; without it the page has a sentence instead of each plot.
    package func html(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") throws -> String {
        var page = HTML()
        let name = result.scenario.name
        page.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")
        page.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        page.element("title", "\(name): load report")
        page.markup("<style>\n\(PageStyle.text)</style>\n</head>\n<body>\n<main>")
        page.element("h1", "Load report: \(name)")
        guard result.runs.indices.contains(shown) else {
            page.element("p", "The result has no run.")
            page.markup("</main>\n</body>\n</html>")
            return page.text
        }
        let run = result.runs[shown]
        verdict(run, &page)
        page.element("p", result.scenario.question)
        page.element("p", "Good: \(result.scenario.good)", "class=\"soft\"")
        if result.runs.count > 1 { runs(&page) }
        try plots(run, path: path, &page)
        counts(run, &page)
        machine(run, &page)
        page.markup("</main>\n</body>\n</html>")
        return page.text
    }

    private func verdict(_ run: LoadRun, _ page: inout HTML) {
        let passes = run.verdict.passes
        page.markup("<section class=\"verdict \(passes ? "passed" : "failed")\" aria-label=\"Verdict\">")
        let which = result.runs.count > 1 ? " (run \(shown + 1) of \(result.runs.count))" : ""
        page.element("strong", (passes ? "Passed" : "Failed") + which)
        let faults = run.verdict.faults.map { ("broken", $0) }
        // Broken ones first: they are what a reader came for.
        let outcomes = run.verdict.thresholds.sorted { !$0.holds && $1.holds }.map {
            ($0.holds ? "holds" : "broken", $0.sentence)
        }
        if faults.isEmpty, outcomes.isEmpty { page.element("p", "The scenario has no thresholds.") }
        page.markup("<ul>")
        for (kind, sentence) in faults + outcomes { page.element("li", sentence, "class=\"\(kind)\"") }
        page.markup("</ul>\n</section>")
    }

    private func runs(_ page: inout HTML) {
        let names = result.runs.flatMap { $0.verdict.thresholds.map(\.figure) }.reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        page.element("h2", "Runs")
        page.element("p", "Plots and counts below are those of run \(shown + 1).", "class=\"soft\"")
        let rows = result.runs.enumerated().map { index, run in
            ["run \(index + 1)", run.verdict.passes ? "passed" : "failed"]
                + names.map { name in run.figures[name].map { FigureUnit(figure: name).text($0) } ?? "–" }
        }
        page.table(Table(header: ["", "verdict"] + names, rows: rows), caption: "Runs")
    }

    private func plots(_ run: LoadRun, path: String, _ page: inout HTML) throws {
        let plots = RunPlots(run).all
        var drawn: [[PlotSVG]]?
        var reason = ""
        do {
            drawn = try Gnuplot(path: path).svg(plots, [.wide, .narrow])
        } catch let error as Gnuplot.DrawingError {
            reason = error.description
        }
        for (index, plot) in plots.enumerated() {
            page.markup("<section>")
            page.element("h2", plot.title)
            page.markup("<figure>")
            if let drawn {
                for picture in drawn[index] { page.markup(picture.text) }
            } else {
                page.element("p", "The plot is not drawn: \(reason).")
            }
            page.element("figcaption", plot.description)
            page.markup("</figure>\n<details>")
            page.element("summary", "\(plot.title): numbers")
            page.table(plot.table, caption: "\(plot.title): numbers")
            page.markup("</details>\n</section>")
        }
    }

    private func counts(_ run: LoadRun, _ page: inout HTML) {
        for (title, counts) in [("Answers", run.answers), ("Not sent, by reason", run.suppressed)] {
            page.element("h2", title)
            guard !counts.isEmpty else {
                page.element("p", "None.", "class=\"soft\"")
                continue
            }
            page.table(Table(header: ["", "count"], rows: counts.map { [$0.name, $0.count.spaced] }), caption: title)
        }
        let threads = run.threads.filter { $0.cpuSeconds >= 0.001 }
        if !threads.isEmpty {
            page.element("h2", "Processor time")
            let rows = threads.map { [$0.name, FigureUnit.time($0.cpuSeconds)] }
            page.table(Table(header: ["thread or program", "time"], rows: rows), caption: "Processor time")
        }
        page.markup("<section>\n<details>")
        page.element("summary", "All figures")
        let rows = run.figures.sorted { $0.key < $1.key }.map { [$0.key, FigureUnit(figure: $0.key).text($0.value)] }
        page.table(Table(header: ["figure", "value"], rows: rows), caption: "All figures")
        page.markup("</details>\n</section>")
        if !run.notes.isEmpty {
            page.element("h2", "Notes")
            page.markup("<ul>")
            for note in run.notes { page.element("li", note) }
            page.markup("</ul>")
        }
    }

    private func machine(_ run: LoadRun, _ page: inout HTML) {
        let (machine, scenario) = (result.machine, result.scenario)
        page.element("h2", "Machine and scenario")
        let build = machine.isDebugBuild ? " (debug build: the figures are worth nothing)" : ""
        let rows: [(String, String)] = [
            ("processor", "\(machine.processors) × \(machine.processor)"),
            ("memory", FigureUnit.bytes.text(Double(machine.memoryBytes))), ("kernel", machine.kernel),
            ("commit", (machine.commit.isEmpty ? "unknown" : machine.commit) + build), ("started", machine.startedAt),
            ("measured", FigureUnit.time(run.seconds)), ("subscribers", scenario.subscribers.spaced),
            ("topics", scenario.topics.spaced), ("shards", scenario.shards.spaced), ("transport", scenario.transport),
            ("seed", "\(scenario.seed)"), ("scale, rate", "\(scenario.scale.shortened), \(scenario.rate.shortened)"),
        ]
        page.markup("<dl>")
        for (name, value) in rows {
            page.element("dt", name)
            page.element("dd", value)
        }
        page.markup("</dl>")
    }
}
