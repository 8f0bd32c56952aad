/// What the engine answers to a call: whether it has taken what it was given.
public enum Admission: Sendable, Hashable {
    /// It will be carried out, also when the engine is stopped meanwhile.
    case taken
    /// There is no room: nothing was taken. Try again when the engine has caught up.
    case full
    /// The engine has been told to stop: nothing is taken any more.
    case stopped
    /// Nothing was taken, and trying again does not help: why, in one line for people.
    case refused(String)

    /// Whether the engine carries out what it was given.
    public var isTaken: Bool { self == .taken }
}
