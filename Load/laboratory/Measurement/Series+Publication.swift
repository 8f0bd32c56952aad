package import FanfareModel

extension Series {
    package init(_ publication: Publication, of occasion: Occasion?) {
        if occasion == .goal || publication.alert?.class == .essential {
            self = .goal
        } else if publication.alert != nil {
            self = .alert
        } else {
            self = publication.priority == .immediate ? .immediate : .conserving
        }
    }
}
