/// Common state of a simulator's sessions.
struct SessionCommons {
    var settings: SessionSettings
    let memory = SessionMemory()

    init(_ settings: SessionSettings) { self.settings = settings }

    /// Returns the settings with a seed for this connection, so that no two answers share an `apns-id`.
    func settings(of connection: UInt32) -> SessionSettings {
        var settings = settings
        settings.seed = mixed(settings.seed ^ UInt64(connection))
        return settings
    }
}
