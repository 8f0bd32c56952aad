import FanfareFanOut
import FanfareModel

/// A previewed phone and the closure that shows it.
struct PreviewScreen {
    private let phone: LineupPreview
    private let show: (LineupPreview.ShownCard) -> Void

    /// - Returns: `nil` for a lineup without topics, or without a closure to show it.
    init?(of topics: [TopicID], rules: LineupRules, show: ((LineupPreview.ShownCard) -> Void)?) {
        guard let show, !topics.isEmpty else { return nil }
        phone = LineupPreview(of: topics, rules: rules)
        self.show = show
    }

    /// Next time at which the phone may show something else without further decisions.
    var nextDue: FeedTime? { phone.nextDue }

    /// - Parameter isShown: `false` for decisions that have been shown before.
    func take(_ decisions: [Decision], isShown: Bool = true) {
        phone.take(decisions, show: isShown ? show : { _ in })
    }

    func pass(to moment: FeedTime) { phone.pass(to: moment, show: show) }
    func finish() { phone.finish(show: show) }
}
