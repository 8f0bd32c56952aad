import FanfareModel

extension Shard {
    /// Records `count` pushes that the service answered as accepted, or as going to a dead token.
    func noteAnswers(_ count: Int, dead: Int) {
        service.noteService()
        if let line = quarantine.note(answers: count, dead: dead) { report(line) }
    }

    /// Holds an activity whose token may be alive after all: it waits, and then gets the newest state.
    func hold(_ slot: ActivitySlot, at moment: Moment) {
        store[slot].flags.insert(.waiting)
        let due = quarantine.hold(slot, generation: store[slot].generation, at: moment.monotonicNanoseconds)
        if let due { timers.insert(.held, due: due) }
    }

    func releaseHeld(at moment: Moment) {
        var release = quarantine.beginRelease()
        while let (slot, generation) = quarantine.next(of: &release, isHeld: { store[$0].generation == $1 }) {
            wake(slot, generation: generation)
        }
        if let due = quarantine.endRelease(at: moment.monotonicNanoseconds) { timers.insert(.held, due: due) }
    }
}
