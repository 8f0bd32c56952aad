import FanfareFanOut
import FanfareModel

/// What happens to a phone, handed to the phone and to the history of its pushes.
extension World {
    func add(_ phone: Phone, _ history: PushHistory) {
        phones.append(phone)
        histories.append(history)
    }

    /// Notes that the shard has the new token, which frees the phone from the trouble of the old one.
    func serves(_ index: Int, _ token: [UInt8]) {
        if phones[index].tokens.serve(token) { histories[index].health.recover() }
    }

    /// Notes that the shard has a card's token.
    func registered(_ index: Int, _ token: [UInt8]) {
        phones[index].registered(at: moment.monotonic)
        serves(index, token)
        histories[index].registered()
    }

    /// Notes that the shard knows the phone's new audience.
    ///
    /// - Parameters:
    ///   - tenure: tenure of the topic that it follows.
    ///   - isWaited: `true` if nothing is published for the audience yet.
    func joined(_ index: Int, _ audience: AudienceKey?, tenure: Int, isWaited: Bool) {
        guard phones[index].joined(audience, tenure: tenure, at: moment.monotonic) else { return }
        // Alerts missed of a topic that stays are still due; but a card without a token takes none along.
        var shown = phones[index].hasToken ? Set(audience?.topics ?? []) : []
        // A joiner has missed nothing of a topic yet to come. A lineup may exist already, with members whose state is unknown.
        if isWaited, case .topic = audience { shown = [] }
        histories[index].joined(showing: shown, isWaited: isWaited)
    }

    /// Notes that the alert of that cause is not to be given any more.
    func revoke(_ cause: String, at node: Node) {
        for index in phones.indices where nodes[phones[index].node] === node { histories[index].alerts.revoke(cause) }
    }

    /// Notes that another card has the phone's name.
    func partsFromName(_ index: Int) {
        phones[index].partsFromName()
        histories[index].alerts.removeMissed()
    }

    /// Lets a card take over from the one that it replaces, if both show the same.
    ///
    /// - Parameter isThere: `true` if the old card certainly exists and was not let go of.
    func takesOver(_ index: Int, from old: Int, isThere: Bool) {
        guard phones[index].showsTheSame(as: phones[old]) else { return }
        let goesOn = !phones[old].life.isGone && !phones[old].life.isEnding
        histories[index].takesOver(from: histories[old], goesOn: goesOn, isThere: isThere)
    }

    /// Notes that a push has left.
    func sent(_ payload: Payload, to index: Int, telling told: [AlertText], from node: Node) {
        let serial = node.topics.newestSerial(for: phones[index].following)
        phones[index].life.sent(payload.event)
        histories[index].sent(
            payload, telling: told, newest: serial, showsLineup: phones[index].showsLineup, at: moment)
    }

    /// Notes that a push was answered.
    func answered(_ flight: Flight, isHeld: Bool) {
        let index = flight.phone
        let isServed = flight.token == phones[index].tokens.served
        let isLast = phones[index].isLast(flight)
        phones[index].answered(flight, isServed: isServed, isHeld: isHeld, isLast: isLast)
        histories[index].answered(
            flight, isServed: isServed, isHeld: isHeld, isLast: isLast, at: moment.monotonic)
    }
}
