/// Answers to the requests, which the history notes.
extension Load {
    mutating func take(_ answer: Answer, to number: Int, at now: Int64) {
        guard let operation = requests.take(number) else {
            return history.complaints.append("an answer to request \(number), which is none: \(answer)")
        }
        let tick = nextTick()
        switch answer {
        case .failed(let text): history.complaints.append("\(operation.request.line): \(text)")
        case .memory where !operation.mayBeGone: history.complaints.append("\(operation.request.line): memory only")
        case .unsettled: history.complaints.append("life \(life): not settled within 60 s")
        case .stopped(owed: 0, unstored: 0): history.lives[life].isStopped = true
        case .settled:
            history.settlements.append(
                .init(life: life, asked: operation.asked, acknowledged: tick, nanoseconds: now))
        default: break
        }
        count(operation.request)
        if let fault = operation.fault(of: answer) { complain("\(operation.request.line): \(fault)") }
        keyed.note(answer, to: operation.request, isRepeat: operation.isRepeat)
        guard !operation.isRepeat else { return }
        acknowledge(operation.request, answer, at: tick)
    }

    private mutating func acknowledge(_ request: Request, _ answer: Answer, at tick: History.Tick) {
        let confirmed = (life: life, tick: tick)
        if case .confirm(let card, _) = request { history.cards[card].start?.confirmed = confirmed }
        switch request {
        case .change(_, let name, let number):
            guard let topic = topic(named: name) else { return }
            states[topic].isBusy = false
            history.topics[topic].changes[number - 1].acknowledged = tick
            history.topics[topic].changes[number - 1].life = life
        case .order(let order, let name, _):
            guard let topic = topic(named: name) else { return }
            states[topic].isBusy = false
            switch order {
            case .mute, .unmute: states[topic].isMuted = order == .mute
            case .pause: states[topic].isPaused = true
            case .resume:
                states[topic].isPaused = false
                history.topics[topic].pauses[history.topics[topic].pauses.count - 1].over = tick
            }
        case .follow(let card, _, _), .confirm(let card, _):
            cards[card].isBusy = false
            settleShows(of: card, at: tick)
            settleTokens(of: card, at: tick)
            appearInTable(card)
        case .move(let card, _):
            cards[card].isBusy = false
            settleShows(of: card, at: tick)
        case .replaceToken(let card, _):
            cards[card].isBusy = false
            settleTokens(of: card, at: tick)
        case .setPreferences(let card, _):
            cards[card].isBusy = false
            history.cards[card].preferences[history.cards[card].preferences.count - 1].acknowledged = tick
        case .unfollow(let card):
            cards[card].isBusy = false
            history.cards[card].isUnfollowAcknowledged = true
            for index in history.cards[card].shows.indices where history.cards[card].shows[index].left == nil {
                history.cards[card].shows[index].left = tick
            }
            for topic in Set(history.cards[card].shows.flatMap(\.value)) { states[topic].cards.remove(card) }
            leaveAlone(card)
        case .start(let card, _):
            cards[card].isBusy = false
            settleStart(of: card, answer, at: tick)
        case .settle, .disk, .stop: break
        }
    }

    /// A start that only memory has is not carried out: a restart gives it up.
    private mutating func settleStart(of card: Int, _ answer: Answer, at tick: History.Tick) {
        guard let start = history.cards[card].start else { return }
        let life = life
        if answer != .memory { history.cards[card].start?.acknowledged = tick }
        if answer == .durable { history.cards[card].start?.life = life }
        if start.uncertain != nil, start.arrived == nil { cards[card].isOver = true }
    }

    /// The last of what the card shows is certain, and the others are over.
    private mutating func settleShows(of card: Int, at tick: History.Tick) {
        let last = history.cards[card].shows.count - 1
        for index in 0..<last where history.cards[card].shows[index].left == nil {
            history.cards[card].shows[index].left = tick
        }
        history.cards[card].shows[last].acknowledged = history.cards[card].shows[last].acknowledged ?? tick
        let kept = Set(history.cards[card].shows[last].value)
        for topic in Set(history.cards[card].shows.flatMap(\.value)).subtracting(kept) {
            states[topic].cards.remove(card)
        }
    }

    private mutating func settleTokens(of card: Int, at tick: History.Tick) {
        let last = history.cards[card].tokens.count - 1
        for index in 0..<last where history.cards[card].tokens[index].left == nil {
            history.cards[card].tokens[index].left = tick
        }
        history.cards[card].tokens[last].acknowledged = history.cards[card].tokens[last].acknowledged ?? tick
    }

    private mutating func appearInTable(_ card: Int) {
        cards[card].isShown = true
        if !cards[card].isOver { shown.insert(card) }
    }
}
