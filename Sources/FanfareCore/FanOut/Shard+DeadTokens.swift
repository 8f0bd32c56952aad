extension Shard {
    /// How long after held activities are tried again while the guard is shut.
    private static let probeNanoseconds: Int64 = 10_000_000_000
    /// Held activities that go on, or are found to wait no longer, in one pull.
    private static let releasesMax = 4096

    /// So many pushes were answered by the service as accepted, or as going to a dead token.
    func noteAnswers(_ count: Int, dead: Int) {
        service.noteService()
        switch deadTokens.note(answers: count, dead: dead) {
        case nil: break
        case .shut:
            report(
                "\(deadTokens.dead) of the last \(deadTokens.answers) pushes went to dead tokens: no more activities are "
                    + "removed for that. Check that the tokens' environment (development or production) and the bundle id "
                    + "are the ones pushed to. It goes on when the share falls, or when told that the tokens did die")
        case .opened: report("dead tokens are few again: their activities are removed as before")
        }
    }

    /// The tokens did die, says a person.
    func trustDeadAnswers() {
        deadTokens.overrule()
        report("told that the tokens did die: their activities are removed as before")
    }

    /// Its token may be alive after all: it waits until the guard opens, or for its turn as a probe, and gets the newest state.
    func hold(_ slot: ActivitySlot, at moment: Moment) {
        if !held.areTimed {
            held.areTimed = true
            timers.insert(.held, due: moment.monotonicNanoseconds + Shard.probeNanoseconds)
        }
        store[slot].flags.insert(.waiting)
        held.append(slot, generation: store[slot].generation)
    }

    func releaseHeld(at moment: Moment) {
        var probes = deadTokens.isShut ? deadTokenProbes : Shard.releasesMax
        held.areTimed = false
        for _ in 0..<Shard.releasesMax {
            guard let (slot, generation) = held.first else { break }
            // Who has gone meanwhile, or has a new token, is no probe.
            if store[slot].generation == generation {
                guard probes > 0 else { break }
                probes -= 1
                wake(slot, generation: generation)
            }
            _ = held.popFirst()
        }
        guard !held.isEmpty else { return }
        held.areTimed = true
        // With the guard open, in the next pull.
        timers.insert(.held, due: moment.monotonicNanoseconds + (deadTokens.isShut ? Shard.probeNanoseconds : 1))
    }
}
