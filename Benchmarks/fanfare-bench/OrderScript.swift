import FanfareModel

/// Changes of an order's feed, one after the other, each of which people see.
struct OrderScript: Sendable {
    let kind: TopicKind
    let change: @Sendable (_ order: Int, _ step: Int) -> JSONObject

    static let steps = 8
    private static let words = [
        "placed", "preparing", "ready", "outForDelivery", "outForDelivery", "outForDelivery", "arriving", "delivered",
    ]

    static let plain = OrderScript(kind: .generic) { order, step in
        step == 0
            ? ["number": .int(Int64(order)), "shop": "Burger & Söhne", "status": "placed", "stopsBefore": 9]
            : ["status": .string(words[step % steps]), "stopsBefore": .int(Int64(9 - step))]
    }

    static let delivery = OrderScript(kind: .delivery) { order, step in
        switch step {
        case 0: ["number": .int(Int64(order)), "shop": "Burger & Söhne", "status": "placed", "stopsBefore": 9]
        case 2: ["status": "ready", "courier": "Ana Kovac"]
        case 3: ["status": "outForDelivery", "stopsBefore": 3]
        case 4...5: ["stopsBefore": .int(Int64(6 - step))]
        // After the rush: it stays on its way for as long as anybody likes.
        case steps...: ["stopsBefore": .int(Int64(step))]
        default: ["status": .string(words[step])]
        }
    }
}
