import FanfareModel

/// Lays out the other topics of a lineup, as a grid.
struct GridLayout {
    let template: CardTemplate
    let content: CardContent
    let timers: MeasuredElement.TimerTexts
    let groupLayout: GroupLayout

    /// A topic in short: its elements, of which a row may lack some.
    private typealias Cell = [MeasuredElement?]

    /// Spaces in the grid. Estimates, as all spaces between elements.
    private static let partGap = 4.0
    private static let rowGap = 2.0
    /// Element that counts the topics for which there is no cell.
    private static let moreName = "more"

    /// Puts as many topics as there is room for, in the order of the rows. The last cell counts the others.
    ///
    /// - Returns: the grid's height.
    func grid(of names: [String], columns: Int, in frame: Rect, _ scene: inout Scene) -> Double {
        var cells: [Cell] = (content.others ?? []).map { row in
            names.map { element($0, showing: content.with(row)) }
        }.filter { !$0.allSatisfy { $0 == nil } }
        guard !cells.isEmpty else { return 0 }
        let width = (frame.width - GroupLayout.gap.x * Double(columns - 1)) / Double(columns)
        let height =
            (cells.joined().compactMap { $0.map { groupLayout.tallest(of: [$0], in: width) } }.max() ?? 0)
            + GridLayout.rowGap
        let room = max(1, Int((frame.height + 0.005) / height)) * columns
        let (kept, last) = counted(cells.count, in: room)
        cells.removeLast(cells.count - kept)
        for column in 0..<columns {
            let x = frame.x + Double(column) * (width + GroupLayout.gap.x)
            let own = stride(from: column, to: cells.count, by: columns).map { cells[$0] }
            putColumn(
                own, in: Rect(x: x, y: frame.y, width: width, height: height), .ofColumn(column, of: columns), &scene)
        }
        if let last {
            let slot = Rect(
                x: frame.x + Double(kept % columns) * (width + GroupLayout.gap.x),
                y: frame.y + Double(kept / columns) * height, width: width, height: height)
            groupLayout.put([last], in: slot, .ofColumn(kept % columns, of: columns), &scene)
        }
        return Double((kept + (last == nil ? 0 : 1) + columns - 1) / columns) * height
    }

    private func element(_ name: String, showing content: CardContent) -> MeasuredElement? {
        template.measured(name, content, timers, groupLayout.measure)
    }

    /// Returns how many of the topics have cells, and the cell that counts the others. A template without one shows all.
    private func counted(_ topics: Int, in room: Int) -> (kept: Int, last: MeasuredElement?) {
        func last(_ more: Int) -> MeasuredElement? {
            element(GridLayout.moreName, showing: content.with(["more": .int(Int64(more))]))
        }
        if content.more == 0, topics <= room { return (topics, nil) }
        let kept = min(topics, room - 1)
        guard let last = last(content.more + topics - kept) else { return (topics, nil) }
        return (kept, last)
    }

    /// Puts a column's cells below each other. Their parts line up, so that the eye finds a score where the one above stands: the first
    /// ones end, and the last ones begin, at one position. Cells of one part begin at one position.
    private func putColumn(_ cells: [Cell], in frame: Rect, _ alignment: GroupLayout.Alignment, _ scene: inout Scene) {
        guard let parts = cells.first?.indices else { return }
        var widths = parts.map { part in cells.compactMap { $0[part]?.natural }.max() ?? 0 }
        let gaps = GridLayout.partGap * Double(parts.count - 1)
        let needed = widths.reduce(0, +)
        // Columns that are too wide give way in proportion; texts may shrink.
        if needed + gaps > frame.width { widths = widths.map { $0 * (frame.width - gaps) / needed } }
        let total = widths.reduce(gaps, +)
        let start = alignment.start(of: total, in: frame)
        for (row, cell) in cells.enumerated() {
            var slot = Rect(x: start, y: frame.y + Double(row) * frame.height, width: 0, height: frame.height)
            for (part, element) in cell.enumerated() {
                slot.width = widths[part]
                let alignment = GroupLayout.Alignment.ofPart(part, of: parts.count)
                if let element { groupLayout.put([element], in: slot, alignment, &scene) }
                slot.x += slot.width + GridLayout.partGap
            }
        }
    }
}

extension GroupLayout.Alignment {
    /// Alignment of a column: the outer ones stand at the card's edges.
    fileprivate static func ofColumn(_ column: Int, of columns: Int) -> Self {
        column == 0 ? .leading : column == columns - 1 ? .trailing : .center
    }

    /// Alignment of a cell's part: the outer ones stand at the middle.
    fileprivate static func ofPart(_ part: Int, of parts: Int) -> Self {
        part == parts - 1 ? .leading : part == 0 ? .trailing : .center
    }
}

extension CardContent {
    /// The content of another row of the lineup.
    fileprivate func with(_ row: JSONObject) -> CardContent {
        var content = self
        content.state = row
        return content
    }
}
