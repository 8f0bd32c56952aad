/// Small pictures that templates may use beside texts. They are decoration: none is read aloud, and none stands alone (rule P5).
enum Icon: String, Sendable, CaseIterable {
    case disc, bag, car, tram, people, heart

    /// Path in a square of 24 units.
    var path: String {
        switch self {
        case .disc: "M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0-20z"
        case .bag: "M8 8V7a4 4 0 0 1 8 0v1h3.2l1 13H3.8l1-13zM10 8h4V7a2 2 0 0 0-4 0z"
        case .car:
            "M3 13l2.2-6.2A2.6 2.6 0 0 1 7.7 5h8.6a2.6 2.6 0 0 1 2.5 1.8L21 13v6.5h-3V18H6v1.5H3zM6.3 11.5h11.4L16.4 8H7.6z"
                + "M6.6 16.2a1.5 1.5 0 1 0 0-3a1.5 1.5 0 0 0 0 3zM17.4 16.2a1.5 1.5 0 1 0 0-3a1.5 1.5 0 0 0 0 3z"
        case .tram:
            "M7 2h10a3 3 0 0 1 3 3v10a4 4 0 0 1-3 3.9l2 3.1h-2.6l-1.9-3H9.5l-1.9 3H5l2-3.1A4 4 0 0 1 4 15V5a3 3 0 0 1 3-3z"
                + "M6.5 5v5.5h11V5zM8 16.5a1.5 1.5 0 1 0 0-3a1.5 1.5 0 0 0 0 3zM16 16.5a1.5 1.5 0 1 0 0-3a1.5 1.5 0 0 0 0 3z"
        case .people:
            "M8.5 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7zM2 19.5c0-4 3-6.5 6.5-6.5s6.5 2.5 6.5 6.5zM16.5 11a3 3 0 1 0 0-6"
                + "a3 3 0 0 0 0 6zM16.8 19.5H22c0-3.6-2.4-5.7-5.3-5.8a8.3 8.3 0 0 1 .1 5.8z"
        case .heart:
            "M12 21C5 15.5 2 12 2 8.2A5.2 5.2 0 0 1 12 6a5.2 5.2 0 0 1 10 2.2C22 12 19 15.5 12 21z"
        }
    }
}
