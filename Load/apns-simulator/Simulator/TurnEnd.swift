/// Work on connections at the end of the loop's turn, because their sessions are being read until then.
///
/// An object, because the work calls the simulator back. Confined to the simulator's loop.
final class TurnEnd {
    private var withOutput: [Connection] = []
    private var losing: [Connection] = []
    private var silencing: [Connection] = []
    private var losingBehindAnswers: [Connection] = []

    func write(_ connection: Connection) { withOutput.append(connection) }
    func lose(_ connection: Connection) { losing.append(connection) }
    func silence(_ connection: Connection) { silencing.append(connection) }
    /// Loses the connection after the answers of this turn have left.
    func loseBehindAnswers(_ connection: Connection) { losingBehindAnswers.append(connection) }

    func carryOut() {
        for connection in losing { connection.lose() }
        losing.removeAll(keepingCapacity: true)
        for connection in silencing { connection.fallSilent() }
        silencing.removeAll(keepingCapacity: true)
        for connection in withOutput { connection.writeOutput() }
        withOutput.removeAll(keepingCapacity: true)
        for connection in losingBehindAnswers { connection.lose() }
        losingBehindAnswers.removeAll(keepingCapacity: true)
    }
}
