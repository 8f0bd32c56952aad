import FanfareModel

/// Names of teams and players in generated matches, which no real team and no real player has.
enum SyntheticNames {
    static let teams = [
        "Ashenvale United", "Brackwater City", "Cindermoor Rovers", "Dunmarrow Athletic", "Elderfen Town",
        "Foxholt Wanderers", "Greywick Albion", "Hallowmere City", "Inkerby Rangers", "Juniper Vale",
        "Kestrel Bay United", "Lanternby Town", "Mossgate Athletic", "Northspire City", "Oakhaven Rovers",
        "Pinreach United", "Quillmere Town", "Ravensmark", "Saltmarch Rovers", "Thornquay Harriers",
    ]

    private static let initials = Array("ABCDEFGHIJKLMNOPRSTVWZ")

    private static let surnames = [
        "Adairn", "Ångvik", "Bexholm", "Corvand", "Drayle", "Elstrow", "Farrindal", "Garrowin", "Heskeby", "Ivarnsen",
        "Jorundal", "Kesslow", "Lornegan", "Merrowby", "Nystrøl", "Orskander", "Pellwright", "Quistgard", "Raskoví",
        "Sorrelman", "Tamsdale", "Ulvarsson", "Vanequist", "Wexelby", "Yarrowin", "Zellerup", "Öbrinksen", "Çelvarin",
        "Dovrenko", "Mirandeš",
    ]

    /// Returns sixteen players; the first eleven start.
    static func squad(_ random: inout SplitMix64) -> [String] {
        var names = surnames
        random.shuffle(&names)
        return names.prefix(16).map { "\(random.element(of: initials)). \($0)" }
    }
}
