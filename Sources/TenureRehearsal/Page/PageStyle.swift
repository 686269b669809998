/// The style sheet of the HTML report, for light and dark screens and for paper. It is part of the page, which loads no
/// other files.
///
/// Each color has one meaning:
/// - blue: the customer has the entitlement
/// - green: the customer gains the entitlement
/// - amber: the outcome can't be determined
/// - gray: the customer doesn't have the entitlement
/// - red: the customer loses the entitlement, which should stop a release
///
/// Eras have outlines and no color.
enum PageStyle {
    static let css = """
        :root { color-scheme: light dark; --paper: #fff; --card: #f5f6f8; --ink: #1c2330; --soft: #5b6575;
          --line: #d9dee6; --granted: #2f6fb3; --gains: #1f8a5b; --undetermined: #e0a81f; --denied: #b4bcc8;
          --loses: #c8322b; --stop: #b3261e; --changeover: #8a5cc2; }
        @media (prefers-color-scheme: dark) { :root { --paper: #14181f; --card: #1d232d; --ink: #e8ecf2;
          --soft: #a3adbd; --line: #39424f; --granted: #5a9be0; --gains: #3fb67f; --undetermined: #d9a93a;
          --denied: #5c6676; --loses: #f0665c; --stop: #a3261e; --changeover: #b18be0; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0 auto; padding: 28px 24px 56px; max-width: 1080px; background: var(--paper); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
          overflow-wrap: anywhere; }
        h1 { font-size: 22px; line-height: 1.3; margin: 0; letter-spacing: -0.01em; font-weight: 650; }
        h2 { font-size: 19px; margin: 40px 0 10px; padding-bottom: 4px; border-bottom: 2px solid var(--line); }
        h3 { font-size: 15px; margin: 20px 0 4px; }
        h4 { font-size: 14px; margin: 0 0 4px; } h4 span { font-weight: 400; color: var(--soft); }
        p { margin: 6px 0; max-width: 78ch; }
        code { font: 0.92em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .soft, .note { color: var(--soft); } .note { font-size: 12px; margin: 2px 0; }
        .verdict { border-radius: 10px; padding: 18px 20px; margin: 0 0 14px; border: 2px solid var(--ink);
          background: var(--card); }
        .verdict.stop { background: var(--stop); border-color: var(--stop); color: #fff; }
        .alert { border-left: 4px solid var(--loses); padding: 2px 0 2px 12px; } .remark { font-size: 14px; }
        .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 10px; margin: 18px 0 12px; }
        .card { background: var(--card); border-radius: 8px; padding: 10px 12px; }
        .card b { display: block; white-space: nowrap; font-size: 23px; line-height: 1.2; font-variant-numeric: tabular-nums; }
        .card span { color: var(--soft); font-size: 13px; line-height: 1.3; display: block; }
        .card.loses b { color: var(--loses); } .card.gains b { color: var(--gains); }
        .cause { display: grid; grid-template-columns: minmax(84px, max-content) minmax(0, 1fr); gap: 0 14px; padding: 8px 0; border-bottom: 1px solid var(--line); }
        .cause p { margin: 0 0 2px; }
        .amount { font-size: 20px; line-height: 1.25; font-weight: 650; color: var(--loses); text-align: right;
          white-space: nowrap; font-variant-numeric: tabular-nums; }
        details { margin: 4px 0; } summary { cursor: pointer; color: var(--soft); font-size: 13px; padding: 3px 0; }
        ul { margin: 4px 0; padding-left: 20px; font-size: 13.5px; }
        .parts { display: flex; height: 100%; overflow: hidden; border-radius: 3px; }
        .parts i { display: block; height: 100%; min-width: 2px; flex: none; }
        body > .parts { height: 22px; border-radius: 6px; background: var(--line); } body > .parts i { flex: 0 1 auto; }
        i.granted { background: var(--granted); } i.gains { background: var(--gains); }
        i.undetermined { background: var(--undetermined); } i.denied { background: var(--denied); }
        i.loses { background: var(--loses); } i.changeover { background: var(--changeover); opacity: 0.45; }
        .legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; color: var(--soft); margin: 8px 0 14px; }
        .legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
        .legend b { color: var(--ink); font-variant-numeric: tabular-nums; }
        .panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(420px, 100%), 1fr)); gap: 26px 32px; margin: 8px 0 18px; }
        .panel { min-width: 0; }
        .rows { font-size: 12px; margin-top: 6px; }
        .row { display: grid; grid-template-columns: 104px minmax(0, 1fr) 64px; gap: 8px; align-items: center; min-height: 17px; }
        .row > span:first-child { text-align: right; color: var(--soft); line-height: 1.2; }
        .row > span:last-child { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .row .parts { height: 11px; } .row.head { font-weight: 600; color: var(--soft); }
        .begins { display: grid; grid-template-columns: 104px minmax(0, 1fr); gap: 8px; line-height: 15px; }
        .begins span { grid-column: 2; border-top: 1px dashed var(--ink); font-size: 11px; margin-top: 2px; color: var(--soft); }
        table { border-collapse: collapse; width: 100%; margin: 8px 0; font-size: 14px; }
        th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line); padding: 3px 12px 3px 0; }
        td { border-bottom: 1px solid var(--line); padding: 3px 12px 3px 0; vertical-align: top; }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; width: 1%; }
        .finding { padding: 4px 0; border-bottom: 1px solid var(--line); } .finding p { max-width: none; }
        .severity { text-transform: capitalize; } .severity.error { text-decoration: underline; }
        svg { display: block; width: 100%; height: auto; margin: 2px 0; }
        svg text { font-family: inherit; fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
        svg .tick, svg .axisTitle { font-size: 11px; fill: var(--soft); font-variant-numeric: tabular-nums; }
        svg .axisTitle { font-weight: 600; } svg .eraName { font-size: 10.5px; stroke: none; }
        .grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: 1; }
        .era { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 3 2; }
        .eraSpan { fill: var(--paper); stroke: var(--ink); stroke-width: 0.75; }
        rect.changeover { fill: var(--changeover); fill-opacity: 0.45; }
        rect.granted { fill: var(--granted); } rect.gains { fill: var(--gains); }
        rect.undetermined { fill: var(--undetermined); } rect.denied { fill: var(--denied); } rect.loses { fill: var(--loses); }
        footer { margin-top: 36px; padding-top: 8px; border-top: 1px solid var(--line); font-size: 13px; color: var(--soft); }
        @media (max-width: 600px) { body { padding: 14px 14px 40px; } h1 { font-size: 19px; } .verdict { padding: 14px; }
          .cards { grid-template-columns: 1fr 1fr; } .cause { grid-template-columns: minmax(0, 1fr); } .amount { text-align: left; }
          svg .tick, svg .axisTitle { font-size: 12.5px; } svg .eraName { font-size: 12px; } }
        @media print { :root { color-scheme: light; --paper: #fff; --card: #f5f6f8; --ink: #1c2330; --soft: #4b5565;
            --line: #cfd5de; --granted: #2f6fb3; --gains: #1f8a5b; --undetermined: #e0a81f; --denied: #b4bcc8;
            --loses: #c8322b; --stop: #b3261e; --changeover: #8a5cc2; }
          body { padding: 0; max-width: none; font-size: 9.5pt; line-height: 1.4; }
          * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
          h1 { font-size: 14pt; } h2 { font-size: 12pt; margin: 18px 0 6px; break-after: avoid; } h3 { break-after: avoid; }
          .card b { font-size: 14pt; } .cards { gap: 6px; margin: 10px 0 6px; } .card { padding: 6px 9px; }
          details { display: none; } .amount { font-size: 13pt; } .cause { padding: 4px 0; }
          .panels { grid-template-columns: 1fr 1fr; gap: 8px 22px; } .panel svg { width: 91%; }
          .panel, .cause, .finding, .cards, .legend, tr { break-inside: avoid; }
          h4 { font-size: 9pt; } .note { font-size: 7.5pt; line-height: 1.25; }
          .rows { margin-top: 2px; line-height: 1.15; } .row { min-height: 12px; font-size: 7.5pt; }
          .row .parts { height: 8px; } .begins { line-height: 1.1; } .begins span { font-size: 7pt; }
          table { font-size: 8.5pt; } thead { display: table-header-group; } td, th { padding: 1px 10px 1px 0; }
          footer { margin-top: 12px; } }
        @page { margin: 13mm 13mm; }
        """
}
