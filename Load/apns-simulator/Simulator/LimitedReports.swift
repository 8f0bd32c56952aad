/// Reports for an operator, of which only the first ones are told.
struct LimitedReports {
    private static let most = 20

    var onReport: ((String) -> Void)?
    private var count = 0

    mutating func say(_ text: String) {
        count += 1
        if count <= LimitedReports.most { onReport?(text) }
        if count == LimitedReports.most { onReport?("further reports of this kind are left out") }
    }
}
