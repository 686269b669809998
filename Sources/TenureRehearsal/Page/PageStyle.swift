/// How the page looks: in light, in dark, and on paper. Nothing is loaded from anywhere.
enum PageStyle {
    static let css = """
        :root { color-scheme: light dark; --paper: #ffffff; --card: #f6f7f9; --ink: #1c2330; --soft: #5b6575;
          --line: #d9dee6; --granted: #2f6fb3; --undetermined: #dba520; --denied: #c4472f; --mostlyGranted: #7aa5d4;
          --mostlyDenied: #dc8d7c; --era: #1c2330; --changeover: #8a5cc2; --onColor: #ffffff; --doubt: #8a6200; }
        @media (prefers-color-scheme: dark) { :root { --paper: #14181f; --card: #1d232d; --ink: #e8ecf2;
          --soft: #a3adbd; --line: #39424f; --granted: #5a9be0; --undetermined: #d9a93a; --denied: #e0674d;
          --mostlyGranted: #4a6f9b; --mostlyDenied: #9a5446; --era: #e8ecf2; --changeover: #b18be0;
          --onColor: #0e1116; --doubt: #d9a93a; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0 auto; padding: 32px 24px 64px; max-width: 1040px; background: var(--paper); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
        h1 { font-size: 27px; line-height: 1.25; margin: 0 0 4px; letter-spacing: -0.01em; }
        h2 { font-size: 20px; margin: 44px 0 8px; padding-bottom: 4px; border-bottom: 2px solid var(--line); }
        h3 { font-size: 15px; margin: 24px 0 4px; }
        p { margin: 6px 0; max-width: 74ch; }
        code { font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .soft { color: var(--soft); }
        .partial { border-left: 5px solid var(--undetermined); background: var(--card); padding: 10px 14px; margin: 16px 0; }
        .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0 8px; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; }
        .card b { display: block; font-size: 26px; line-height: 1.2; font-variant-numeric: tabular-nums; }
        .card span { color: var(--soft); font-size: 13px; }
        .card.alarm { border-color: var(--denied); } .card.alarm b { color: var(--denied); }
        .card.good b { color: var(--granted); }
        .bar { display: flex; height: 26px; border-radius: 6px; overflow: hidden; margin: 10px 0; background: var(--line); }
        .bar i { display: block; height: 100%; min-width: 2px; }
        i.granted { background: var(--granted); } i.undetermined { background: var(--undetermined); }
        i.denied { background: var(--denied); } i.mostlyGranted { background: var(--mostlyGranted); }
        i.mostlyDenied { background: var(--mostlyDenied); } i.gains { background: var(--granted); }
        i.loses { background: var(--denied); } i.changeover { background: var(--changeover); opacity: 0.5; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); margin: 4px 0 2px; }
        .legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
        .legend u { display: inline-block; width: 14px; border-top: 2px dashed var(--era); margin-right: 6px; vertical-align: 4px; }
        .scroll { overflow-x: auto; } .scroll svg { min-width: 640px; } .caption { break-after: avoid; }
        table { border-collapse: collapse; width: 100%; margin: 8px 0; font-size: 14px; }
        th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line); padding: 4px 10px 4px 0; }
        td { border-bottom: 1px solid var(--line); padding: 4px 10px 4px 0; vertical-align: top; }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        td.tight { white-space: nowrap; }
        .tag { display: inline-block; white-space: nowrap; font-size: 12px; font-weight: 600; border-radius: 5px; padding: 0 7px; border: 1px solid currentColor; }
        .tag.error, .tag.denied, .tag.loses { color: var(--denied); } .tag.granted, .tag.gains { color: var(--granted); }
        .tag.warning, .tag.undetermined { color: var(--doubt); } .tag.note, .tag.changesReason { color: var(--soft); }
        svg { display: block; width: 100%; height: auto; margin: 6px 0 2px; }
        svg text { font-family: inherit; fill: var(--ink); }
        .tick { font-size: 11px; fill: var(--soft) !important; font-variant-numeric: tabular-nums; }
        .cell { font-size: 10px; pointer-events: none; } .cell.strong { fill: var(--onColor); }
        .cell.doubt { fill: #14181f; } .cell.crossed { font-weight: 600; paint-order: stroke; stroke: var(--paper);
          stroke-width: 3px; stroke-linejoin: round; }
        .cell.strong.crossed { stroke: var(--ink); } .cell.doubt.crossed { stroke: var(--undetermined); }
        .eraName { font-size: 11.5px; font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 5px;
          stroke-linejoin: round; }
        .grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--soft); stroke-width: 1; }
        .era { stroke: var(--era); stroke-width: 1.4; stroke-dasharray: 4 3; }
        rect.changeover { fill: var(--changeover); fill-opacity: 0.35; }
        rect.granted { fill: var(--granted); } rect.undetermined { fill: var(--undetermined); }
        rect.denied { fill: var(--denied); } rect.mostlyGranted { fill: var(--mostlyGranted); }
        rect.mostlyDenied { fill: var(--mostlyDenied); } rect.gains { fill: var(--granted); } rect.loses { fill: var(--denied); }
        footer { margin-top: 48px; padding-top: 10px; border-top: 1px solid var(--line); font-size: 13px; color: var(--soft); }
        @media print { :root { color-scheme: light; --paper: #fff; --card: #f6f7f9; --ink: #1c2330; --soft: #4b5565;
            --line: #cfd5de; --granted: #2f6fb3; --undetermined: #dba520; --denied: #c4472f; --mostlyGranted: #7aa5d4;
            --mostlyDenied: #dc8d7c; --era: #1c2330; --changeover: #8a5cc2; --onColor: #fff;
            --doubt: #8a6200; }
          body { padding: 0; max-width: none; font-size: 11pt; }
          * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
          h2 { break-after: avoid; } h3 { break-after: avoid; } svg, .card, .bar, tr, .finding { break-inside: avoid; }
          table { font-size: 9pt; } thead { display: table-header-group; } .scroll { overflow: visible; }
          .scroll svg { min-width: 0; } h2 + p, .caption { break-after: avoid; } .legend { break-inside: avoid; }
          footer { margin-top: 16px; break-before: avoid; } }
        @page { margin: 16mm 14mm; }
        """
}
