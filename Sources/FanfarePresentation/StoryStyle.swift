/// Looks of a story's page.
enum StoryStyle {
    /// Style sheet: light and dark, wide and narrow, screen and paper. The pictures bring their own colours.
    static let css = """
        :root{color-scheme:light dark;--paper:#f4f5f7;--ink:#14161a;--quiet:#50565f;--line:#c9ced6;--wall:#8e9aa8;--on-wall:#0b0d10;
        --accent:#0a55c4;--alert:#9a0a2c}
        @media (prefers-color-scheme:dark){:root{--paper:#101215;--ink:#eceef2;--quiet:#a9b0bb;--line:#3a4049;--wall:#343b45;
        --on-wall:#f3f5f8;--accent:#8ab8ff;--alert:#ff9db0}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
        header,main{max-width:72rem;margin:0 auto;padding:0 1.25rem}
        header{padding-top:1.5rem}
        h1{font-size:1.5rem;line-height:1.25;margin:0}
        h2{font-size:1.1rem;margin:0}
        p{margin:.25rem 0}
        header p,.note,.unsent,ol+p{color:var(--quiet)}
        a{color:var(--accent);text-underline-offset:.2em}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
        #stage{margin:1.25rem 0;contain:layout style}
        #frame{min-height:6.5rem}
        .alert,.end{color:var(--alert);font-weight:600;white-space:pre-line}
        #places{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start;justify-content:center;padding:1.5rem;
        background:var(--wall);border-radius:14px}
        figure{margin:0;max-width:100%}
        figure div{display:grid;max-width:100%}
        figure svg,.strip svg{display:block;max-width:100%;height:auto;margin:0 auto}
        figure p{color:var(--on-wall);font-size:.85rem;padding:.75rem 1rem;border:1px dashed var(--on-wall);border-radius:20px;
        margin:0;display:grid;place-content:center}
        figcaption{color:var(--on-wall);font-size:.85rem;text-align:center;margin-top:.5rem}
        small{display:block;font-size:.75rem}
        #spoken{min-height:3em;margin:.75rem 0;padding-left:.75rem;border-left:3px solid var(--line)}
        #controls{display:flex;flex-wrap:wrap;gap:.5rem;position:sticky;bottom:0;padding:.5rem 0;background:var(--paper)}
        #place{flex:1 0 100%;width:100%;height:1.75rem;margin:0;accent-color:var(--accent)}
        #alerts{flex:1 0 100%;height:8px;margin:-.35rem 0 .35rem;padding:0 8px;min-width:0;overflow:visible}
        #alerts path{stroke:var(--alert);stroke-width:2px;vector-effect:non-scaling-stroke;fill:none}
        button{font:inherit;color:var(--ink);background:transparent;border:1px solid var(--quiet);border-radius:8px;
        padding:.4rem .9rem;min-height:44px;white-space:nowrap}
        button:disabled{opacity:.5}
        #play{min-width:6rem}
        ol{padding-left:0;list-style:none;border-top:1px solid var(--line);margin:.75rem 0 2rem}
        li{padding:.5rem;border-bottom:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 5rem}
        li[aria-current]{background:color-mix(in srgb,var(--accent) 12%,transparent)}
        time{font-variant-numeric:tabular-nums}
        @media (max-width:30rem){body{font-size:14px}header,main{padding:0 .75rem}header{padding-top:.5rem}h1{font-size:1.2rem}
        #stage{margin:.5rem 0}#frame{min-height:4.75rem}#places{padding:.5rem;gap:.5rem}figcaption{margin-top:.15rem;line-height:1.3}
        #controls{gap:.25rem;padding:.25rem 0}button{flex:1;padding:.4rem .25rem}#play{min-width:0}}
        @media (max-height:26rem){#controls{position:static}}
        @media print{:root{--paper:#fff;--ink:#000;--quiet:#333;--accent:#000;--alert:#000}#stage,noscript{display:none}
        li[aria-current]{background:none}
        li{break-inside:avoid;content-visibility:visible}.strip{display:flex;flex-wrap:wrap;gap:8px;zoom:.6;
        print-color-adjust:exact;-webkit-print-color-adjust:exact}.strip svg{margin:0}a{text-decoration:none}}
        """
}
