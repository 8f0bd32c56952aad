/// Colours and layout of a page: light and dark, narrow and wide, screen and paper.
enum PageStyle {
    private static let light = [
        "--page": "#ffffff", "--ink": "#1b1f24", "--soft": "#57606a", "--grid": "#d8dee4", "--good": "#116329",
        "--bad": "#b3261e",
        "--panel": "#f6f8fa", "--plot-1": "#0072b2", "--plot-2": "#c04a00", "--plot-3": "#007a55",
        "--plot-4": "#a3487f",
        "--plot-5": "#7a6a00",
    ]
    private static let dark = [
        "--page": "#14181d", "--ink": "#e6e9ed", "--soft": "#a8b1bb", "--grid": "#3a424b", "--good": "#6fdd8b",
        "--bad": "#ff8f85",
        "--panel": "#1e242b", "--plot-1": "#6cb8f0", "--plot-2": "#ff9d5c", "--plot-3": "#5ed3a8",
        "--plot-4": "#e79ac9",
        "--plot-5": "#d9c84a",
    ]

    /// Values of the names that plots and pages use. Paper is light.
    static func colours(of selector: String) -> String {
        func list(_ colours: [String: String]) -> String {
            colours.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ";")
        }
        return "\(selector){color-scheme:light dark;\(list(light));color:var(--ink)}"
            + "@media screen and (prefers-color-scheme:dark){\(selector){\(list(dark))}}"
    }

    static let text =
        colours(of: ":root") + """

            *{box-sizing:border-box}
            body{margin:0 auto;padding:1rem;max-width:56rem;background:var(--page);font:1rem/1.5 system-ui,sans-serif}
            h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}
            h2{font-size:1.2rem;margin:2rem 0 .5rem}
            p{margin:.4rem 0}
            .soft{color:var(--soft)}
            .verdict{border-left:.4rem solid;padding:.5rem 1rem;background:var(--panel);margin:1rem 0}
            .verdict strong{font-size:1.25rem}
            .passed{border-color:var(--good)}
            .failed{border-color:var(--bad)}
            .passed strong,.holds{color:var(--good)}
            .failed strong,.broken{color:var(--bad)}
            ul{padding-left:1.2rem;margin:.4rem 0}
            figure{margin:0}
            svg.plot{width:100%;height:auto;display:block;font-family:system-ui,sans-serif}
            svg.narrow{display:none;max-width:30rem}
            figcaption{color:var(--soft)}
            details{margin:.4rem 0}
            summary{cursor:pointer;padding:.3rem 0}
            .scroll{overflow-x:auto;max-width:100%}
            table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.875rem}
            th,td{padding:.25rem .75rem .25rem 0;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap;vertical-align:top}
            th:first-child{text-align:left;white-space:normal;font-weight:normal;min-width:8rem}
            thead th,thead th:first-child{font-weight:600;color:var(--soft)}
            dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.5rem 0}
            dt{color:var(--soft)}
            dd{margin:0;overflow-wrap:anywhere}
            :focus-visible{outline:2px solid var(--plot-1);outline-offset:2px}
            @media screen and (max-width:37.5rem){
            svg.wide{display:none}
            svg.narrow{display:block}
            dl{grid-template-columns:1fr;gap:0}
            dd{margin-bottom:.4rem}
            }
            @media print{
            body{max-width:none;padding:0;font-size:10pt}
            figure,.verdict,tr{break-inside:avoid}
            h2{break-after:avoid}
            }

            """
}
