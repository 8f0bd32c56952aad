import FanfareModel

/// Orders and rides: a vehicle approaches, and its estimate fluctuates.
extension PatchScript {
    /// Plays an order from its placement to the door: half an hour to an hour.
    mutating func deliver(from placed: FeedTime) {
        set("status", at: placed, ["status": "placed"])
        var at = later(than: placed, seconds: 30...240)
        set("status", at: at, ["status": "preparing", "stopsBefore": .int(Int64(random.number(in: 0...4)))])
        if random.chance(perThousand: 40) {
            set("status", at: later(than: at, seconds: 60...600), ["status": "cancelled"])
            return
        }
        let courier = random.element(of: PatchScript.names)
        at = later(than: at, seconds: 480...1200)
        var stops = Int64(random.number(in: 0...4))
        let arrival = later(than: at, seconds: 600...1500)
        set(
            "status", at: at,
            [
                "status": "outForDelivery", "courier": .string(courier), "stopsBefore": .int(stops),
                "arrivesAt": estimate(arrival, at: at),
            ])
        let leg = (arrival - at).milliseconds / (stops + 1)
        let departed = at
        approach(from: at, to: arrival, every: 10) { script, now in
            let stopsNow = max(0, stops - (now - departed).milliseconds / leg)
            var values: JSONObject = ["arrivesAt": script.estimate(arrival, at: now)]
            if stopsNow < stops { values["stopsBefore"] = .int(stopsNow) }
            stops = min(stops, stopsNow)
            return values
        }
        set("status", at: arrival + .seconds(random.number(in: 20...90)), ["status": "delivered", "arrivesAt": .null])
    }

    /// Plays a ride from the search for a driver to the fare: a quarter of an hour to an hour.
    mutating func ride(from asked: FeedTime) {
        set("status", at: asked, ["status": "matching"])
        let assigned = later(than: asked, seconds: 15...120)
        let pickup = later(than: assigned, seconds: 180...600)
        set(
            "status", at: assigned,
            [
                "status": "driverAssigned",
                "plate": .string("\(random.element(of: PatchScript.plates)) \(random.number(in: 100...9999))"),
                "driver": .string(random.element(of: PatchScript.names)), "arrivesAt": estimate(pickup, at: assigned),
            ])
        approach(from: assigned, to: pickup, every: 5) { script, now in ["arrivesAt": script.estimate(pickup, at: now)]
        }
        set("status", at: pickup, ["status": "waiting", "arrivesAt": .null])
        let departed = later(than: pickup, seconds: 30...180)
        let arrival = later(than: departed, seconds: 300...2400)
        set("status", at: departed, ["status": "onTrip", "arrivesAt": estimate(arrival, at: departed)])
        approach(from: departed, to: arrival, every: 5, announces: false) { script, now in
            ["arrivesAt": script.estimate(arrival, at: now)]
        }
        let minutes = (arrival - departed).milliseconds / 60_000
        set(
            "status", at: arrival,
            ["status": "ended", "fare": .string("\(4 + minutes).\(random.number(in: 10...99))"), "arrivesAt": .null])
    }

    /// Sends a position every few seconds, every third time a new estimate instead, and `arriving` two minutes before the arrival.
    private mutating func approach(
        from start: FeedTime, to arrival: FeedTime, every seconds: Int64, announces: Bool = true,
        _ values: (inout PatchScript, FeedTime) -> JSONObject
    ) {
        var now = start
        var isAnnounced = !announces
        var count = 0
        while true {
            now = now + .milliseconds(seconds * 1000 + random.number(in: -800...800))
            if now >= arrival { return }
            count += 1
            if !isAnnounced, arrival - now <= .seconds(120) {
                isAnnounced = true
                var last = values(&self, now)
                last["status"] = "arriving"
                set("status", at: now, last)
            } else if count % 3 == 0 {
                set("estimate", at: now, values(&self, now))
            } else {
                noise("position", at: now)
            }
        }
    }

    /// Returns an estimate in seconds since 2001, off by up to an eighth of the remaining time. The error drifts slowly, as traffic does.
    private mutating func estimate(_ arrival: FeedTime, at now: FeedTime) -> JSONValue {
        drift = min(max(drift + random.number(in: -12...12), -125), 125)
        let guess = arrival + .milliseconds(max(0, (arrival - now).milliseconds) * drift / 1000)
        return .int(Int64(guess.activityKitSeconds.rounded()))
    }

    private mutating func later(than time: FeedTime, seconds: ClosedRange<Int64>) -> FeedTime {
        time + .milliseconds(random.number(in: seconds.lowerBound * 1000...seconds.upperBound * 1000))
    }

    private static let names = ["Ada", "Bram", "Chiara", "Deniz", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas"]
    private static let plates = ["B-FF", "HH-LA", "M-UV", "K-XY", "S-NT"]
}
