import Foundation
import FoundationXML
import Laboratory
import Testing

@testable import LaboratoryReport

/// Debian's gnuplot, if it is installed.
private let gnuplot = try? Gnuplot()

@Suite("Report")
struct ReportPageTests {
    private static let titles = [
        "Latency by percentile", "A goal on its way through its audience", "Throughput", "Age", "Memory",
        "Longest turns",
        "From raw events to pushes",
    ]

    @Test func theVerdictComesFirst() throws {
        let page = try ReportPage(exampleResult()).html(path: "")
        let verdict = try #require(page.firstRange(of: "<strong>Failed"))
        let broken = try #require(page.firstRange(of: "cpu.per.push is 1.4 µs, not below 1 µs."))
        let kept = try #require(page.firstRange(of: "goal.last.p99 is 1.2 s, below 2.5 s."))
        let question = try #require(page.firstRange(of: "How long do two goals"))
        #expect(verdict.lowerBound < broken.lowerBound)
        #expect(broken.lowerBound < kept.lowerBound)
        #expect(kept.lowerBound < question.lowerBound)
        for title in ReportPageTests.titles { #expect(page.contains("<h2>\(title)</h2>")) }
        for text in ["240,000", "unchanged", "0123456789ab", "Example &lt;CPU&gt; &amp; Co"] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test func withoutGnuplotThePageHasItsTablesAndSaysWhy() throws {
        let page = try ReportPage(exampleResult()).html(path: "/nowhere:")
        #expect(
            page.contains("The plot is not drawn: gnuplot is missing, which draws the plots: apt install gnuplot-nox."))
        #expect(!page.contains("<svg"))
        #expect(page.contains("<th scope=\"row\">goal, last</th>"))
    }

    @Test func pagesOfEmptyResultsAreWhole() throws {
        #expect(try ReportPage(exampleResult(runs: 0)).html(path: "").contains("The result has no run."))
        var result = exampleResult()
        result.runs = [LoadRun(verdict: Verdict(faults: ["generator late: 3 s"], thresholds: []), seconds: 0)]
        let page = try ReportPage(result).html(path: "")
        #expect(page.contains("generator late: 3 s"))
        #expect(page.hasSuffix("</html>\n"))
    }

    /// Texts of scenarios, feeds and machines come from outside.
    @Test func textsFromOutsideAreEscaped() throws {
        var result = exampleResult(scenario: "<script>alert(1)</script>")
        result.runs[0].goals[0].topic = "\"><img src=x onerror=alert(1)>"
        result.runs[0].latencies[0].series = "'; set output 'x"
        result.runs[0].funnel[0].name = "`touch /tmp/x` \n%s"
        let page = try ReportPage(result).html()
        // Booleans, because a failure would print the page.
        let (hasScript, hasImage) = (page.contains("<script"), page.contains("<img"))
        #expect(!hasScript)
        #expect(!hasImage)
    }

    @Test func aFailedRunIsShownInFull() throws {
        var result = exampleResult(runs: 3)
        for index in [0, 2] { result.runs[index].verdict = Verdict(faults: [], thresholds: []) }
        #expect(try ReportPage(result).html(path: "").contains("Failed (run 2 of 3)"))
    }

    @Test(.enabled(if: gnuplot != nil, "apt install gnuplot-nox"))
    func plotsTakeTheColoursOfThePage() throws {
        let page = try ReportPage(exampleResult()).html()
        let pictures = page.split(separator: "<svg ").dropFirst()
        // Each plot once for a window and once for a phone.
        #expect(pictures.count == 2 * ReportPageTests.titles.count)
        for picture in pictures {
            #expect(picture.contains("role=\"img\" aria-label=\""))
            #expect(picture.contains("var(--ink)"))
            #expect(picture.contains("var(--plot-1)"))
            let body = picture[..<(picture.firstRange(of: "</svg>")?.lowerBound ?? picture.endIndex)]
            for colour in ["rgb(", "black", "white", "gray", "#0"] { #expect(!body.contains(colour), "\(colour)") }
        }
        #expect(!page.contains(" id="))
        let outside = page.matches(of: /(https?:)?\/\/[a-z][^"'\s<]*/).map { String($0.output.0) }
        #expect(outside.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(outside)")
    }

    @Test(.enabled(if: gnuplot != nil, "apt install gnuplot-nox"))
    func picturesAreFilesOfTheirOwn() throws {
        let gnuplot = try #require(gnuplot)
        let plots = RunPlots(exampleRun()).all
        let files = try gnuplot.svg(plots, [.wide]).map(\.[0].file)
        for file in files {
            let problems = Problems()
            let parser = XMLParser(data: Data(file.utf8))
            parser.delegate = problems
            #expect(parser.parse(), "\(String(describing: problems.first))")
            #expect(file.contains("prefers-color-scheme:dark"))
        }
        let png = try gnuplot.png(plots[0])
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(png.count > 5000)
    }

    /// An extreme run: nothing, one value, and values over the whole range of the histogram.
    @Test(
        .enabled(if: gnuplot != nil, "apt install gnuplot-nox"),
        arguments: [[Int64](), [0], [1], [0, 1, 3_600_000_000]])
    func anyValuesAreDrawn(values: [Int64]) throws {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value) }
        var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 3)
        run.latencies = [Latency(series: "goal", stage: "last", histogram: histogram)]
        run.goals = [
            Goal(topic: "match/1", planned: 0, audience: values.count, first: nil, last: nil, spread: histogram)
        ]
        run.intervals = [0.0, 1, 1].map { Interval(second: $0) }
        run.intervals[1].oldestUndelivered = .infinity
        run.funnel = [Count("events", 0), Count("pushes", Int.max)]
        let plots = RunPlots(run).all
        #expect(try #require(gnuplot).svg(plots, [.wide, .narrow]).count == plots.count)
    }

    /// A second in which nothing was accepted has no age of pushes: it is not one of zero, and the second after it has its own step.
    @Test(.enabled(if: gnuplot != nil, "apt install gnuplot-nox"))
    func aSecondWithoutPushesHasNoAgeOfPushes() throws {
        var run = exampleRun(seconds: 5)
        for second in [0, 2, 3] {
            run.intervals[second].latency = LatencyHistogram()
            run.intervals[second].goalLatency = LatencyHistogram()
        }
        let age = try #require(RunPlots(run).all.first { $0.name == "age" })
        #expect(age.table.rows.map { $0[2] == "–" } == [true, false, true, true, false])
        guard case .steps(let series) = age.content else {
            Issue.record("ages are not steps")
            return
        }
        let points = try #require(series.first { $0.name == "accepted pushes, p99" }).points.filter(\.y.isFinite)
        #expect(points.map(\.x) == [1, 2, 4, 5], "each lone second begins where the one before ends")
        #expect(points.allSatisfy { $0.y > 0 })
        #expect(try #require(gnuplot).svg([age], [.wide]).count == 1)
    }

    /// Half of an audience that never got the goal stays below the line's end, and has no time of its own.
    @Test func aGoalThatNotAllHadEndsBelowTheWhole() throws {
        var run = exampleRun(seconds: 4)
        run.goals = Array(run.goals.prefix(1))
        run.goals[0].owed = 2 * Int(run.goals[0].spread.count)
        run.goals[0].last = nil
        let spread = try #require(RunPlots(run).all.first { $0.name == "spread" })
        guard case .lines(let series) = spread.content else {
            Issue.record("a spread is not a line")
            return
        }
        #expect(series[0].points.last?.y == 50)
        let row = try #require(spread.table.rows.first)
        #expect(row[3] != "–" && row[4] == "–" && row[5] == "–")
        #expect(row[6] == "not all had it: 20,000 of 40,000")
    }

    @Test func longRunsAreShownInFewRows() throws {
        let plots = RunPlots(exampleRun(seconds: 1000)).all
        let throughput = try #require(plots.first { $0.name == "throughput" })
        #expect(throughput.table.rows.count <= 120)
        // Counts are added: the rate of nine seconds is that of one.
        #expect(throughput.table.rows[0][1].hasPrefix("19,90"), "\(throughput.table.rows[0])")
        let age = try #require(plots.first { $0.name == "age" })
        #expect(age.table.rows.dropLast().allSatisfy { $0[1] == "900 ms" })
    }
}

/// Keeps the first fault that the parser finds.
private final class Problems: NSObject, XMLParserDelegate {
    private(set) var first: (any Error)?
    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) { first = first ?? error }
}
